// The bytes that things of a script take, about as JavaScriptCore keeps them: what a million of each took of the process, with
// the 30 bytes by which a walk (`reach.ts`) remembers an object.

/** An object besides its fields. */
export const OBJECT = 64
/** A field, or an element of a list. */
export const SLOT = 8
/** An array or matrix besides its elements. */
export const COLLECTION = 208
/** A map besides its pairs. Its table doubles, so that a pair takes 55 to 82. */
export const MAP = 256
export const PAIR = 80
/** A text besides its letters: one that was put together holds its parts until it is read. */
export const TEXT = 128
/** A point and its place in a list. */
export const POINT = 56
/** A drawing with as many fields as most have. */
export const DRAWING = OBJECT + 20 * SLOT
