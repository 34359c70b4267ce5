import { z } from 'zod';

/** A field of text that PostgreSQL can store and compare: well-formed and without NUL. */
export const storableText = (lengthMax: number) =>
  z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(lengthMax, `must be at most ${lengthMax} characters`)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'holds a forbidden character');
