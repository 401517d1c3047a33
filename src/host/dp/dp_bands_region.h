/**
 * @file dp_bands_region.h
 * The traceback through a part of the table within dp.memory: regions in pieces.
 */
#pragma once

#include "dp_bands.h"

TSL_C_BEGIN

/**
 * Go back from a cell to the top or the left side of rows that were computed together, or to the
 * path's end (lane -1). What lies left of the cell and above it is a region. Where its decisions
 * fit into what is left of dp.memory, they are made and followed; else its longer side is halved:
 * the half without the cell is computed and its edge (or the state below it) kept, the other half
 * is a region, and so is then what the path comes to of the first. LOCAL leaves out of a region
 * what the path cannot come through; where its engine keeps several edges in one pass, it is cut
 * into as many pieces as are then followed at once. Paths do not depend on the memory.
 *
 * @param[in]     b       whose rows they are
 * @param[in,out] cursor  as in dp_bands_trace; the lane is left as it is, or becomes -1
 * @return TSL_ERR_MEMORY: dp.memory does not hold the edges; those of the device
 */
tsl_err dp_bands_region(dp_bands *bands, const dp_band *b, dp_kept_rows *kept, tsl_cursor *cursor,
                        dp_steps *steps);

TSL_C_END
