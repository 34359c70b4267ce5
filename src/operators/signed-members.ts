import { z } from 'zod';

/** Long enough for any UUID or digest, short enough that hashing it costs nothing. */
const NONCE_LENGTH_MAX = 128;

/** Members of every request of an operator: who asks, and what prevents its replay. */
export const signedMembers = {
  cid: z.string().describe("The operator's key at this gateway"),
  path: z.string('must be a string').optional().describe('The path that the request is sent to'),
  at: z
    .string('must be a string')
    .optional()
    .describe('When it was made: ISO 8601 with its zone, at most 5 minutes from now'),
  nonce: z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(NONCE_LENGTH_MAX, `must be at most ${NONCE_LENGTH_MAX} characters`)
    .optional()
    .describe('Text of your own that no other request carries; needs `at` beside it'),
};

/** Their names; the other members of a request are what it asks for. */
export const SIGNED_MEMBERS: readonly string[] = Object.keys(signedMembers);

/** Only the members that make a request fresh: the others are checked by the request's own schema. */
export const freshMembers = z.object(signedMembers).omit({ cid: true });
