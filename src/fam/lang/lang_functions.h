/**
 * @file lang_functions.h
 * The functions of lang_math.h for sockets and cards, as lang_NAME_f32 of float and lang_NAME_f64
 * of double.
 */
#pragma once

#include "fn.h"

#define LANG_FN TSL_FN

#define R float
#define LANG_BYTES 4
#define LANG_(name) name##_f32
#include "lang_math.h"
#include "lang_math_undef.h"
#undef R
#undef LANG_BYTES
#undef LANG_

#define R double
#define LANG_BYTES 8
#define LANG_(name) name##_f64
#include "lang_math.h"
#include "lang_math_undef.h"
#undef R
#undef LANG_BYTES
#undef LANG_

#undef LANG_FN
