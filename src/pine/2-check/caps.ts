// How much of anything the checker takes from one script, so that no text can keep it at work for long.
//
// A function is checked once for each list of argument types, and functions that call each other multiply these lists:
// 4.8 kB of them took 209 seconds. The largest of 1,700 published scripts has 8,700 expressions, 35 copies of
// functions in all and 7 of one, so each limit is far from what anybody writes by hand; each has its message.

/** Expressions and statements, those in each copy of a function and each default filled in counted. */
export const NODES_MAX = 500_000
/** Copies of one function for other types of arguments. */
export const COPIES_MAX = 500
/** Copies of all functions, the first of each not counted. */
export const ALL_COPIES_MAX = 2000
/** Functions of one name: each call compares its arguments with all of them. */
export const OVERLOADS_MAX = 64
export const PARAMETERS_MAX = 256
/**
 * Loops within loops of one function. JavaScriptCore's optimizer works on a function for a time that grows faster than
 * the square of this, outside of any budget of ours, and the main thread has to wait for it whenever it collects
 * garbage: for 450 loops it was 60 seconds and 2.4 GB, for 30 it was 10 ms.
 */
export const LOOPS_MAX = 32
/** Fields of a type, members of an enum. */
export const MEMBERS_MAX = 1000
/** Letters of what a type is called: `array<array<…` of arrays handed from function to function. */
export const TYPE_LETTERS_MAX = 500
/** Letters of all texts that constants are worked out to; what is beyond has to wait for the run. */
export const FOLDED_LETTERS_MAX = 1_000_000
/** Names compared with a wrong one for a hint, in all. */
export const COMPARED_MAX = 200_000
