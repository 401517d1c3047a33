/* Tables made of the list of pair functions. */
#include "tri_functions.h"

#include <stddef.h>

const tri_about tri_abouts[TRI_N_FUNCTIONS] = {
#define X(NAME, name, ...) [TRI_##NAME] = {__VA_ARGS__},
    TRI_PAIR_LIST(X)
#undef X
        [TRI_GRAVITY] = {.extra = TRI_MASS, /* of points as read */
                         .sum = TRI_SQUARES,
                         .unit = TRI_UNITLESS,
                         .flops_pair = 20, /* of an ordered pair, by convention */
                         .quantity = ""},
    [TRI_EQUATION] = {.sum = TRI_SQUARES, /* of points as read */
                      .unit = TRI_OF_POINTS,
                      .flops_d = 3,
                      .flops_pair = 20,
                      .quantity = "value of the equation"},
    [TRI_EQUATION_PERIODIC] = {.prepare = TRI_WRAPPED,
                               .sum = TRI_SQUARES,
                               .unit = TRI_OF_POINTS,
                               .flops_d = 5,
                               .flops_pair = 20,
                               .quantity = "value of the equation"},
#define X(NAME, name, ...) [TRI_##NAME] = {__VA_ARGS__},
    TRI_LETTER_LIST(X)
#undef X
};

#define WORD(NAME, name, ...) #name,
const char *const tri_function_words[] = {TRI_PAIR_LIST(WORD) "gravity", "equation", "equation",
                                          TRI_LETTER_LIST(WORD) NULL};
const char *const tri_choice_words[] = {TRI_NAMED_LIST(WORD) "gravity", "equation",
                                        TRI_LETTER_LIST(WORD) NULL};
