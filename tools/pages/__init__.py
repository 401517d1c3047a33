"""What tools/report and tools/scaling share.

need       the packages, or a sentence that names them
page       HTML: style, tables, tiles, figures; numbers and sizes as text
svg        charts as inline SVG
raster     pictures as PNG, with axes and colour bar
record     what an output file says about its run
heading    what a run computed, in words
results    pictures of the result of each family (results_tri, results_tri_sets; molecule: atoms and bonds)
run        figures of one run: shares, timeline, prediction, phases
wall       where the wall time of a job went: picture and table
deck       values of a deck, as far as growing a problem needs them
experiment points of a scaling experiment in a folder, repeating what is missing
runs       one start of the program, and the files that it leaves
ceiling    what the machine itself gives: runs of one rank, as many at once as a point has ranks
launch     starting them: mpirun, or jobs of Slurm
gate       programs that begin together
laws       speed-up, efficiency, laws of Amdahl and Gustafson
table      the experiment as rows: what the CSV holds and the page shows
scaling    the page of an experiment
"""
