// Limits on what the checker accepts from one script, so that no text can keep it busy for long.
//
// A function is checked once for each list of argument types, and functions that call each other multiply these lists: 4.8
// kB of them took 209 seconds. The largest of 1,700 published scripts has 8,700 expressions, 35 copies of functions in all
// and 7 of one, so each limit is far from anything that people write; each has its own message.

/** Expressions and statements, including those in each copy of a function and each filled-in default. */
export const NODES_MAX = 500_000
/** Copies of one function for other types of arguments. */
export const COPIES_MAX = 500
/** Copies of all functions, the first of each not counted. */
export const ALL_COPIES_MAX = 2000
/** Functions of one name: each call compares its arguments with all of them. */
export const OVERLOADS_MAX = 64
export const PARAMETERS_MAX = 256
/** Imports of one text: each may be a library of any length. */
export const IMPORTS_MAX = 200
/**
 * Loops within loops of one function. JavaScriptCore's optimizer works on a function for a time that grows faster than
 * the square of this, outside of any budget of ours, and the main thread has to wait for it whenever it collects
 * garbage: for 450 loops it was 60 seconds and 2.4 GB, for 30 it was 10 ms.
 */
export const LOOPS_MAX = 32
/** Fields of a type, and members of an enum. */
export const MEMBERS_MAX = 1000
/** Letters in the name of a type, such as `array<array<…` of arrays passed from function to function. */
export const TYPE_LETTERS_MAX = 500
/** Letters of all texts computed from constants; further texts are left to the run. */
export const FOLDED_LETTERS_MAX = 1_000_000
/** Calls of the script's own functions that are computed while it is compiled; further ones are left to the run. */
export const FOLDED_CALLS_MAX = 10_000
/** How many names, in all, are compared with a wrong one for a hint. */
export const COMPARED_MAX = 200_000
