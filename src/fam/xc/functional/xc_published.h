/**
 * @file xc_published.h
 * Names that functionals are published with: lists of one row each. docs/families/xc.md has parts,
 * papers and known ambiguities; tests/unit/test_xc_functional_published.c compares each with PySCF.
 */
#pragma once

/** X(name, sum): computed, as the sum of own and libxc's names. Of XC_OWN_LIST none. */
#define XC_PUBLISHED_LIST(X)                                   \
  X("SPW92", "lda_x + lda_c_pw_mod")                           \
  X("revPBE", "gga_x_pbe_r + gga_c_pbe")                       \
  X("RPBE", "gga_x_rpbe + gga_c_pbe")                          \
  X("PBEsol", "gga_x_pbe_sol + gga_c_pbe_sol")                 \
  X("PW91", "gga_x_pw91 + gga_c_pw91")                         \
  X("mPWPW91", "gga_x_mpw91 + gga_c_pw91")                     \
  X("BP86", "gga_x_b88 + gga_c_p86")                           \
  X("BPW91", "gga_x_b88 + gga_c_pw91")                         \
  X("BPBE", "gga_x_b88 + gga_c_pbe")                           \
  X("BOP", "gga_x_b88 + gga_c_op_b88")                         \
  X("OLYP", "gga_x_optx + gga_c_lyp")                          \
  X("OPBE", "gga_x_optx + gga_c_pbe")                          \
  X("XLYP", "gga_xc_xlyp")                                     \
  X("EDF1", "gga_xc_edf1")                                     \
  X("HCTH93", "gga_xc_hcth_93")                                \
  X("HCTH120", "gga_xc_hcth_120")                              \
  X("HCTH147", "gga_xc_hcth_147")                              \
  X("HCTH407", "gga_xc_hcth_407")                              \
  X("KT2", "gga_xc_kt2")                                       \
  X("SOGGA11", "gga_x_sogga11 + gga_c_sogga11")                \
  X("N12", "gga_x_n12 + gga_c_n12")                            \
  X("GAM", "gga_x_gam + gga_c_gam")                            \
  X("revPBE0", "0.25*hf + 0.75*gga_x_pbe_r + gga_c_pbe")       \
  X("PBEsol0", "0.25*hf + 0.75*gga_x_pbe_sol + gga_c_pbe_sol") \
  X("PBE38", "0.375*hf + 0.625*gga_x_pbe + gga_c_pbe")         \
  X("PBE50", "0.5*hf + 0.5*gga_x_pbe + gga_c_pbe")             \
  X("B1LYP", "0.25*hf + 0.75*gga_x_b88 + gga_c_lyp")           \
  X("B1PW91", "0.25*hf + 0.75*gga_x_b88 + gga_c_pw91")         \
  X("B3PW91", "hyb_gga_xc_b3pw91")                             \
  X("B3P86", "hyb_gga_xc_b3p86")                               \
  X("BHandH", "0.5*hf + 0.5*lda_x + gga_c_lyp")                \
  X("BHandHLYP", "0.5*hf + 0.5*gga_x_b88 + gga_c_lyp")         \
  X("HFLYP", "hf + gga_c_lyp")                                 \
  X("X3LYP", "hyb_gga_xc_x3lyp")                               \
  X("O3LYP", "hyb_gga_xc_o3lyp")                               \
  X("mPW1PW91", "0.25*hf + 0.75*gga_x_mpw91 + gga_c_pw91")     \
  X("mPW1PBE", "0.25*hf + 0.75*gga_x_mpw91 + gga_c_pbe")       \
  X("mPW1LYP", "0.25*hf + 0.75*gga_x_mpw91 + gga_c_lyp")       \
  X("mPW1K", "0.428*hf + 0.572*gga_x_mpw91 + gga_c_pw91")      \
  X("B97", "hyb_gga_xc_b97")                                   \
  X("B97-1", "hyb_gga_xc_b97_1")                               \
  X("B97-2", "hyb_gga_xc_b97_2")                               \
  X("B97-3", "hyb_gga_xc_b97_3")                               \
  X("B97-K", "hyb_gga_xc_b97_k")                               \
  X("SOGGA11-X", "hyb_gga_x_sogga11_x + gga_c_sogga11_x")      \
  X("APF", "hyb_gga_xc_apf")                                   \
  X("EDF2", "hyb_gga_xc_edf2")                                 \
  X("TPSS0", "0.25*hf + 0.75*mgga_x_tpss + mgga_c_tpss")       \
  X("revTPSS", "mgga_x_revtpss + mgga_c_revtpss")              \
  X("revTPSSh", "hyb_mgga_xc_revtpssh")                        \
  X("PKZB", "mgga_x_pkzb + mgga_c_pkzb")                       \
  X("VSXC", "mgga_x_gvt4 + mgga_c_vsxc")                       \
  X("tHCTH", "mgga_x_tau_hcth + gga_c_hcth_a")                 \
  X("tHCTHh", "hyb_mgga_x_tau_hcth + gga_c_hyb_tau_hcth")      \
  X("TM", "mgga_x_tm + mgga_c_tm")                             \
  X("revTM", "mgga_x_revtm + mgga_c_revtm")                    \
  X("SCAN", "mgga_x_scan + mgga_c_scan")                       \
  X("SCAN0", "hyb_mgga_x_scan0 + mgga_c_scan")                 \
  X("rSCAN", "mgga_x_rscan + mgga_c_rscan")                    \
  X("r4SCAN", "mgga_x_r4scan + mgga_c_r2scan")                 \
  X("r2SCANh", "0.1*hf + 0.9*mgga_x_r2scan + mgga_c_r2scan")   \
  X("r2SCAN50", "0.5*hf + 0.5*mgga_x_r2scan + mgga_c_r2scan")  \
  X("MS0", "mgga_x_ms0 + gga_c_regtpss")                       \
  X("MS1", "mgga_x_ms1 + gga_c_regtpss")                       \
  X("MS2", "mgga_x_ms2 + gga_c_regtpss")                       \
  X("MS2h", "hyb_mgga_x_ms2h + gga_c_regtpss")                 \
  X("MVS", "mgga_x_mvs + gga_c_regtpss")                       \
  X("MVSh", "hyb_mgga_x_mvsh + gga_c_regtpss")                 \
  X("TASK", "mgga_x_task + lda_c_pw")                          \
  X("M05", "hyb_mgga_x_m05 + mgga_c_m05")                      \
  X("M05-2X", "hyb_mgga_x_m05_2x + mgga_c_m05_2x")             \
  X("M06", "hyb_mgga_x_m06 + mgga_c_m06")                      \
  X("M06-L", "mgga_x_m06_l + mgga_c_m06_l")                    \
  X("M06-2X", "hyb_mgga_x_m06_2x + mgga_c_m06_2x")             \
  X("M06-HF", "hyb_mgga_x_m06_hf + mgga_c_m06_hf")             \
  X("revM06", "hyb_mgga_x_revm06 + mgga_c_revm06")             \
  X("revM06-L", "mgga_x_revm06_l + mgga_c_revm06_l")           \
  X("M08-HX", "hyb_mgga_x_m08_hx + mgga_c_m08_hx")             \
  X("M08-SO", "hyb_mgga_x_m08_so + mgga_c_m08_so")             \
  X("M11-L", "mgga_x_m11_l + mgga_c_m11_l")                    \
  X("MN12-L", "mgga_x_mn12_l + mgga_c_mn12_l")                 \
  X("MN15", "hyb_mgga_x_mn15 + mgga_c_mn15")                   \
  X("MN15-L", "mgga_x_mn15_l + mgga_c_mn15_l")                 \
  X("BMK", "hyb_mgga_x_bmk + gga_c_bmk")                       \
  X("PW6B95", "hyb_mgga_xc_pw6b95")                            \
  X("PWB6K", "hyb_mgga_xc_pwb6k")                              \
  X("B1B95", "hyb_mgga_xc_b88b95")                             \
  X("BB1K", "hyb_mgga_xc_bb1k")                                \
  X("mPW1B95", "hyb_mgga_xc_mpw1b95")                          \
  X("mPWB1K", "hyb_mgga_xc_mpwb1k")                            \
  X("HSE03", "hyb_gga_xc_hse03")                               \
  X("HSE06", "hyb_gga_xc_hse06")                               \
  X("HSE12", "hyb_gga_xc_hse12")                               \
  X("HSEsol", "hyb_gga_xc_hse_sol")                            \
  X("N12-SX", "hyb_gga_x_n12_sx + gga_c_n12_sx")               \
  X("CAM-B3LYP", "hyb_gga_xc_cam_b3lyp")                       \
  X("CAM-QTP00", "hyb_gga_xc_cam_qtp_00")                      \
  X("CAM-QTP01", "hyb_gga_xc_cam_qtp_01")                      \
  X("CAM-QTP02", "hyb_gga_xc_cam_qtp_02")                      \
  X("LC-BLYP", "hyb_gga_xc_lc_blyp")                           \
  X("LC-wPBE", "hyb_gga_xc_lc_wpbe")                           \
  X("LRC-wPBE", "hyb_gga_xc_lrc_wpbe")                         \
  X("LRC-wPBEh", "hyb_gga_xc_lrc_wpbeh")                       \
  X("wB97", "hyb_gga_xc_wb97")                                 \
  X("wB97X", "hyb_gga_xc_wb97x")                               \
  X("M11", "hyb_mgga_x_m11 + mgga_c_m11")                      \
  X("revM11", "hyb_mgga_x_revm11 + mgga_c_revm11")             \
  X("MN12-SX", "hyb_mgga_x_mn12_sx + mgga_c_mn12_sx")          \
  X("M06-SX", "hyb_mgga_x_m06_sx + mgga_c_m06_sx")             \
  X("mBEEF", "mgga_x_mbeef + gga_c_pbe_sol")                   \
  X("VV10", "gga_xc_vv10")                                     \
  X("LC-VV10", "hyb_gga_xc_lc_vv10")                           \
  X("B97M-V", "mgga_xc_b97m_v")                                \
  X("wB97X-V", "hyb_gga_xc_wb97x_v")                           \
  X("wB97M-V", "hyb_mgga_xc_wb97m_v")

/** X(name, sum): other spellings of these and of own functionals. */
#define XC_SPELLING_LIST(X)        \
  X("PBEh", "pbe0")                \
  X("PBE1PBE", "pbe0")             \
  X("B3LYPG", "b3lyp")             \
  X("B3LYP-VWN5", "b3lyp5")        \
  X("hyb_gga_xc_pbeh", "pbe0")     \
  X("hyb_gga_xc_b3lyp", "b3lyp")   \
  X("hyb_gga_xc_b3lyp5", "b3lyp5") \
  X("BHLYP", "bhandhlyp")          \
  X("BHHLYP", "bhandhlyp")         \
  X("mPW1PW", "mpw1pw91")          \
  X("mPWPW", "mpwpw91")            \
  X("hyb_mgga_xc_tpssh", "tpssh")  \
  X("hyb_mgga_xc_tpss0", "tpss0")

/** X(NAME, words): parts of functionals that are not computed here. */
#define XC_LACK_LIST(X)                                     \
  X(LAPLACIAN, "the Laplacian of a meta-GGA")               \
  X(YUKAWA, "exact exchange by Yukawa's function")          \
  X(DISPERSION, "a correction for dispersion")              \
  X(NON_LOCAL, "non-local correlation other than VV10")     \
  X(PT2, "the perturbative correlation of a double hybrid") \
  X(BASIS, "corrections for its basis set")                 \
  X(VV10, "VV10 correlation")

/** Their places in the list, and bits. */
#define XC_LACK_PLACE(NAME, words) XC_LACK_##NAME,
#define XC_LACK_BIT(NAME, words) XC_LACKS_##NAME = 1 << XC_LACK_##NAME,
enum { XC_LACK_LIST(XC_LACK_PLACE) XC_LACK_LIST(XC_LACK_BIT) };

/** X(name, what is lacking): refused. */
#define XC_LACKING_LIST(X)                               \
  X("SCANL", XC_LACKS_LAPLACIAN)                         \
  X("r2SCANL", XC_LACKS_LAPLACIAN)                       \
  X("B97M-rV", XC_LACKS_NON_LOCAL)                       \
  X("wB97M-rV", XC_LACKS_NON_LOCAL)                      \
  X("B97M-D3BJ", XC_LACKS_DISPERSION)                    \
  X("B97M-D4", XC_LACKS_DISPERSION)                      \
  X("wB97M-D3BJ", XC_LACKS_DISPERSION)                   \
  X("wB97M-D4", XC_LACKS_DISPERSION)                     \
  X("mBEEF-vdW", XC_LACKS_NON_LOCAL)                     \
  X("r2SCAN-3c", XC_LACKS_DISPERSION | XC_LACKS_BASIS)   \
  X("wB97X-D", XC_LACKS_DISPERSION)                      \
  X("wB97X-D3", XC_LACKS_DISPERSION)                     \
  X("wB97X-D3BJ", XC_LACKS_DISPERSION)                   \
  X("wB97X-D4", XC_LACKS_DISPERSION)                     \
  X("wB97X-rV", XC_LACKS_NON_LOCAL)                      \
  X("wB97X-3c", XC_LACKS_DISPERSION)                     \
  X("HSE-3c", XC_LACKS_DISPERSION | XC_LACKS_BASIS)      \
  X("B97-D", XC_LACKS_DISPERSION)                        \
  X("B97-D2", XC_LACKS_DISPERSION)                       \
  X("B97-D3", XC_LACKS_DISPERSION)                       \
  X("B97-D3BJ", XC_LACKS_DISPERSION)                     \
  X("APFD", XC_LACKS_DISPERSION)                         \
  X("SSB-D", XC_LACKS_DISPERSION)                        \
  X("S12g", XC_LACKS_DISPERSION)                         \
  X("S12h", XC_LACKS_DISPERSION)                         \
  X("CAM-S12g", XC_LACKS_DISPERSION)                     \
  X("CAM-S12h", XC_LACKS_DISPERSION)                     \
  X("OPBE-D", XC_LACKS_DISPERSION)                       \
  X("OLYP-D", XC_LACKS_DISPERSION)                       \
  X("D2", XC_LACKS_DISPERSION)                           \
  X("D3", XC_LACKS_DISPERSION)                           \
  X("D3BJ", XC_LACKS_DISPERSION)                         \
  X("D4", XC_LACKS_DISPERSION)                           \
  X("B97-3c", XC_LACKS_DISPERSION | XC_LACKS_BASIS)      \
  X("B3LYP-3c", XC_LACKS_DISPERSION | XC_LACKS_BASIS)    \
  X("PBEh-3c", XC_LACKS_DISPERSION | XC_LACKS_BASIS)     \
  X("HF-3c", XC_LACKS_DISPERSION | XC_LACKS_BASIS)       \
  X("BEEF-vdW", XC_LACKS_NON_LOCAL)                      \
  X("vdW-DF", XC_LACKS_NON_LOCAL)                        \
  X("vdW-DF2", XC_LACKS_NON_LOCAL)                       \
  X("vdW-DF-cx", XC_LACKS_NON_LOCAL)                     \
  X("rev-vdW-DF2", XC_LACKS_NON_LOCAL)                   \
  X("optPBE-vdW", XC_LACKS_NON_LOCAL)                    \
  X("optB88-vdW", XC_LACKS_NON_LOCAL)                    \
  X("optB86b-vdW", XC_LACKS_NON_LOCAL)                   \
  X("rVV10", XC_LACKS_NON_LOCAL)                         \
  X("B2PLYP", XC_LACKS_PT2)                              \
  X("B2GP-PLYP", XC_LACKS_PT2)                           \
  X("B2K-PLYP", XC_LACKS_PT2)                            \
  X("B2T-PLYP", XC_LACKS_PT2)                            \
  X("B2NC-PLYP", XC_LACKS_PT2)                           \
  X("mPW2PLYP", XC_LACKS_PT2)                            \
  X("mPW2K-PLYP", XC_LACKS_PT2)                          \
  X("PBE0-DH", XC_LACKS_PT2)                             \
  X("PBE0-2", XC_LACKS_PT2)                              \
  X("PBE-QIDH", XC_LACKS_PT2)                            \
  X("B2PI-PLYP", XC_LACKS_PT2)                           \
  X("XYG3", XC_LACKS_PT2)                                \
  X("XYGJ-OS", XC_LACKS_PT2)                             \
  X("ROB2PLYP", XC_LACKS_PT2)                            \
  X("B2PLYP-D", XC_LACKS_PT2 | XC_LACKS_DISPERSION)      \
  X("B2PLYP-D3", XC_LACKS_PT2 | XC_LACKS_DISPERSION)     \
  X("B2PLYP-D3BJ", XC_LACKS_PT2 | XC_LACKS_DISPERSION)   \
  X("DSD-BLYP", XC_LACKS_PT2 | XC_LACKS_DISPERSION)      \
  X("DSD-PBEP86", XC_LACKS_PT2 | XC_LACKS_DISPERSION)    \
  X("DSD-PBE", XC_LACKS_PT2 | XC_LACKS_DISPERSION)       \
  X("DSD-PBEB95", XC_LACKS_PT2 | XC_LACKS_DISPERSION)    \
  X("revDSD-BLYP", XC_LACKS_PT2 | XC_LACKS_DISPERSION)   \
  X("revDSD-PBE", XC_LACKS_PT2 | XC_LACKS_DISPERSION)    \
  X("revDSD-PBEP86", XC_LACKS_PT2 | XC_LACKS_DISPERSION) \
  X("PWPB95", XC_LACKS_PT2)                              \
  X("PTPSS", XC_LACKS_PT2)                               \
  X("TPSS0-DH", XC_LACKS_PT2)                            \
  X("SCAN0-2", XC_LACKS_PT2)                             \
  X("Pr2SCAN50", XC_LACKS_PT2)                           \
  X("RSX-QIDH", XC_LACKS_PT2)                            \
  X("RSX-0DH", XC_LACKS_PT2)                             \
  X("wB2PLYP", XC_LACKS_PT2)                             \
  X("wB2GP-PLYP", XC_LACKS_PT2)                          \
  X("wB97X-2", XC_LACKS_PT2)                             \
  X("wB97M(2)", XC_LACKS_PT2 | XC_LACKS_NON_LOCAL)

/** X(name, what to write): names of several functionals; refused, as nobody can tell which. */
#define XC_AMBIGUOUS_LIST(X)                                                     \
  X("LDA", "svwn5, spw92 or lda_x + lda_c_vwn_rpa, or lda_x for exchange alone") \
  X("HSE", "hse06, or hse03 of other ranges")                                    \
  X("LSDA", "svwn5, spw92 or lda_x + lda_c_vwn_rpa")                             \
  X("SVWN", "svwn5 or, with the fit to RPA, lda_x + lda_c_vwn_rpa")              \
  X("B98", "sb98_2c for Schmider and Becke's; Becke's is one of the Laplacian, not computed here")

/** Names of those that are computed, each with ", " before it, for messages. */
#define XC_PUBLISHED_NAME(name, ...) ", " name
#define XC_PUBLISHED_NAMES XC_PUBLISHED_LIST(XC_PUBLISHED_NAME)
