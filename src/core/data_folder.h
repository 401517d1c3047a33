/**
 * @file data_folder.h
 * Where the data that come with tesela are: basis sets, score matrices.
 */
#pragma once

#include "error.h"

TSL_C_BEGIN

enum { TSL_DATA_FOLDER = 4096 /**< bytes of a folder's name, with its end */ };

/**
 * The folder NAME or inputs/SOURCE: below TSL_DATA_DIR when that is set; else below
 * ../share/tesela as seen from the program's folder (an installed one); else below the sources that
 * the program was built from.
 * @param[in]  name    "matrices"
 * @param[in]  source  where it is among the sources' inputs, "matrices"
 * @return TSL_ERR_INPUT when there is none, which is said with the places that were looked at
 */
tsl_err tsl_data_folder(const char *name, const char *source, char folder[TSL_DATA_FOLDER]);

TSL_C_END
