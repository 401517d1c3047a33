/* Written by tools/xc_reference.py with PySCF 2.14.0: atomic units.
 * Digests are sums of cos(0.37 i + 0.71 j + 1.13 k + 1.61 l) times element ijkl. */
#pragma once

static const char xc_mixed_basis[] = "BASIS \"mixed\" SPHERICAL\n"
                                     "O S\n"
                                     " 130.7 0.15\n"
                                     " 23.8 0.53\n"
                                     " 6.4 0.44\n"
                                     "O P\n"
                                     " 5.03 0.16\n"
                                     " 1.17 0.61\n"
                                     "O D\n"
                                     " 1.2 1.0\n"
                                     "O F\n"
                                     " 0.9 1.0\n"
                                     "O G\n"
                                     " 0.8 1.0\n"
                                     "H S\n"
                                     " 3.4 0.15\n"
                                     " 0.62 0.53\n"
                                     "H P\n"
                                     " 0.7 1.0\n"
                                     "C S\n"
                                     " 2.9 -0.1\n"
                                     " 0.68 0.4\n"
                                     "C P\n"
                                     " 0.7 1.0\n"
                                     "C D\n"
                                     " 0.55 1.0\n"
                                     "END\n";

#define XC_REF_OVERLAP_SPHERICAL -0.081358089525
#define XC_REF_KINETIC_SPHERICAL 27.241571039476
#define XC_REF_ATTRACTION_SPHERICAL -45.382334547442
#define XC_REF_DIPOLE_X_SPHERICAL -0.467420224636
#define XC_REF_DIPOLE_Y_SPHERICAL -5.048694097478
#define XC_REF_DIPOLE_Z_SPHERICAL -0.887531797717
#define XC_REF_QUARTETS_SPHERICAL 4.073661403302
#define XC_REF_TRIPLES_SPHERICAL -7.507052804150
#define XC_REF_DOUBLES_SPHERICAL -1.045775505956
#define XC_REF_OVERLAP_CARTESIAN -4.626538015192
#define XC_REF_KINETIC_CARTESIAN 15.919656496113
#define XC_REF_ATTRACTION_CARTESIAN 7.152865036628
#define XC_REF_DIPOLE_X_CARTESIAN -3.695581861551
#define XC_REF_DIPOLE_Y_CARTESIAN 0.040966525455
#define XC_REF_DIPOLE_Z_CARTESIAN 3.239639551329
#define XC_REF_QUARTETS_CARTESIAN 7.508551319161
#define XC_REF_TRIPLES_CARTESIAN -6.289183076295
#define XC_REF_DOUBLES_CARTESIAN -15.670945286823
#define XC_REF_WATER_EXACT -75.960975166984
#define XC_REF_WATER_HOMO -0.498077983282
#define XC_REF_WATER_LUMO 0.176111151628
#define XC_REF_WATER_DIPOLE_X 0.000000000000
#define XC_REF_WATER_DIPOLE_Y -0.000000000000
#define XC_REF_WATER_DIPOLE_Z -0.839806864701
#define XC_REF_WATER_MULLIKEN -0.347484511490
#define XC_REF_WATER_FITTED -75.961084226642
#define XC_REF_OXYGEN_EXACT -149.491834355184
#define XC_REF_OXYGEN_SQUARE 2.033426227900
#define XC_REF_OXYGEN_MULLIKEN -0.000000000000
#define XC_REF_OXYGEN_FITTED -149.491942874512
#define XC_REF_LIO_EXACT -75.966863447729
#define XC_REF_LIO_HOMO -0.522090267463
#define XC_REF_LIO_LUMO 0.159156734481
#define XC_REF_LIO_DIPOLE_X 0.561156864515
#define XC_REF_LIO_DIPOLE_Y -0.074421173231
#define XC_REF_LIO_DIPOLE_Z 0.667479999531
#define XC_REF_LIO_MULLIKEN -0.371339951586
#define XC_REF_LIO_FITTED -75.966973249049
#define XC_REF_TRIPLE_EXACT -76.058990706518
#define XC_REF_TRIPLE_HOMO -0.508026483243
#define XC_REF_TRIPLE_LUMO 0.127585167300
#define XC_REF_TRIPLE_DIPOLE_X 0.000000000000
#define XC_REF_TRIPLE_DIPOLE_Y 0.000000000000
#define XC_REF_TRIPLE_DIPOLE_Z -0.849829107331
#define XC_REF_TRIPLE_MULLIKEN -0.687369247251
#define XC_REF_TRIPLE_FITTED -76.059148746548
#define XC_REF_CARTESIAN_EXACT -76.022041413259
#define XC_REF_CARTESIAN_HOMO -0.508771156046
#define XC_REF_CARTESIAN_LUMO 0.191983682681
#define XC_REF_CARTESIAN_DIPOLE_X 0.626352685283
#define XC_REF_CARTESIAN_DIPOLE_Y -0.087161262397
#define XC_REF_CARTESIAN_DIPOLE_Z 0.674719296748
#define XC_REF_CARTESIAN_MULLIKEN -0.857555146179
#define XC_REF_CARTESIAN_FITTED -76.024745293875
