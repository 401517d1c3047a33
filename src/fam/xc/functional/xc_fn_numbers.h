/**
 * @file xc_fn_numbers.h
 * Polynomials and derived numbers of xc_fn.h, printed by tools/xc_polynomials; do not edit.
 */
#ifndef TSL_FAM_XC_FN_NUMBERS_H
#define TSL_FAM_XC_FN_NUMBERS_H

/* clang-format off */
/** (2 atanh(s)/s - 2)/z, z = s^2; error 3.1e-16. */
#define XC_LOG_TAIL_f64(x) \
  FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64( \
  0.1461644968504340586, x, 0.15331721600556041269), x, 0.1818288912526172208) \
  , x, 0.22222211134795079855), x, 0.28571428625975484921), x, 0.3999999999989950449) \
  , x, 0.66666666666666696862)
/** (2 atanh(s)/s - 2)/z, z = s^2; error 1.9e-7. */
#define XC_LOG_TAIL_f32(x) \
  FMA_f32(FMA_f32( \
  0.29579949392f, x, 0.39988780566f), x, 0.6666668504f)
/** (e^r - 1 - r)/r^2; error 1.1e-16. */
#define XC_EXP_TAIL_f64(x) \
  FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64( \
  2.5100385495510319078e-8, x, 2.7620088445409748161e-7), x, 2.7557268459997064772e-6) \
  , x, 0.000024801521295954375131), x, 0.00019841269863053616878) \
  , x, 0.0013888888917213716901), x, 0.0083333333333300618325), x, 0.041666666666624127873) \
  , x, 0.16666666666666667453), x, 0.50000000000000010221)
/** (e^r - 1 - r)/r^2; error 6.5e-8. */
#define XC_EXP_TAIL_f32(x) \
  FMA_f32(FMA_f32(FMA_f32(FMA_f32( \
  0.0013926183588f, x, 0.0083631790527f), x, 0.041666554617f), x, 0.1666657699f), x, 0.5f)
/** (atan(t)/t - 1)/z, z = t^2; error 3.2e-17. */
#define XC_ATAN_TAIL_f64(x) \
  FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64(FMA_f64( \
  -0.019176887119062258989, x, 0.039231658295587191303), x, -0.050854497379402598613) \
  , x, 0.058581489128022098816), x, -0.066645114473819480001), x, 0.076921831908260865637) \
  , x, -0.090909045781239018905), x, 0.11111111015256361727), x, -0.14285714284666542922) \
  , x, 0.19999999999995520678), x, -0.3333333333333333016)
/** (atan(t)/t - 1)/z, z = t^2; error 1.6e-8. */
#define XC_ATAN_TAIL_f32(x) \
  FMA_f32(FMA_f32(FMA_f32(FMA_f32( \
  -0.064519282081f, x, 0.10743731491f), x, -0.14263955598f), x, 0.19999540484f) \
  , x, -0.33333331761f)
/** VWN5 paramagnetic: A, b, c, x0, Q, k, t. */
#define XC_VWN5_PARA(R) \
  (R)0.0310907, (R)3.72744, (R)12.9352, (R)-0.10498, \
  (R)6.1519908197590802322, (R)-0.031167608678943781304, (R)1.2474243062431213963
/** VWN5 ferromagnetic: A, b, c, x0, Q, k, t. */
#define XC_VWN5_FERRO(R) \
  (R)0.01554535, (R)7.06042, (R)18.0578, (R)-0.325, \
  (R)4.73092690956011283, (R)-0.14460061018520727023, (R)3.3766620352569055195
/** VWN5 spin stiffness over f''(0): A, b, c, x0, Q, k, t. */
#define XC_VWN5_STIFF(R) \
  (R)-0.0098758156608403809862, (R)1.13107, (R)13.0045, (R)-0.0047584, \
  (R)7.1231089178181179908, (R)-0.00041403379428206274608, (R)0.31770800474394146399
/** VWN RPA paramagnetic: A, b, c, x0, Q, k, t. */
#define XC_VWNR_PARA(R) \
  (R)0.0310907, (R)13.072, (R)42.7198, (R)-0.409286, \
  (R)0.044899888641287296627, (R)-0.14253052416798393956, (R)660.0678961180514643
/** VWN RPA ferromagnetic: A, b, c, x0, Q, k, t. */
#define XC_VWNR_FERRO(R) \
  (R)0.01554535, (R)20.1231, (R)101.578, (R)-0.743294, \
  (R)1.1716852777089929792, (R)-0.17158249941450756396, (R)39.807275474055348693
#define XC_RS 0.62035049089940001667 /**< (3/(4 pi))^(1/3) */
#define XC_SLATER 0.930525736349100025 /**< exchange energy of a spin over n^(4/3), negative */
#define XC_S2 0.016455307846020557507 /**< s^2 over sigma n^(-8/3) of a spin */
#define XC_GAMMA 0.031090690869654895035 /**< of PBE correlation */
#define XC_T2 0.063468206097703704202 /**< t^2 phi^2 over sigma n^(-7/3) */
#define XC_CF 2.8712340001881918159 /**< of LYP */
#define XC_CBRT2 1.2599210498948731648 /**< 2^(1/3) */
#define XC_CBRT_HALF 0.79370052598409973738 /**< 2^(-1/3) */
#define XC_SPIN_CF 4.5577998723455971373 /**< tau over n^(5/3) of a spin of the uniform gas */
#define XC_P2 0.026121172985233599568 /**< s^2 over sigma n^(-8/3) */
#define XC_R2SCAN_CX -0.12082102608764785778 /**< C_eta C_2x of r2SCAN */
#define XC_R2SCAN_DC -0.84746378630693838476 /**< Delta f_c2 / (27 gamma) of r2SCAN */
/** f_x(alpha) of r2SCAN for 0 < alpha <= 5/2, from alpha^0 on. */
#define XC_R2SCAN_FX(R) \
  (R)1, (R)-0.667, (R)-0.4445555, (R)-0.663086601049, \
  (R)1.451297044490, (R)-0.887998041597, (R)0.234528941479, (R)-0.023185843322
/** f_c(alpha) of r2SCAN for 0 < alpha <= 5/2, from alpha^0 on. */
#define XC_R2SCAN_FC(R) \
  (R)1, (R)-0.64, (R)-0.4352, (R)-1.535685604549, \
  (R)3.061560252175, (R)-1.915710236206, (R)0.516884468372, (R)-0.051848879792
#define XC_F_SCALE 1.9236610509315363198 /**< of f(zeta) */
/* clang-format on */

#endif
