import { z } from 'zod';

/** Long enough for any UUID or digest, short enough to be hashed for nothing. */
const NONCE_LENGTH_MAX = 128;

/**
 * The members that every request of an operator may carry: who asks, and what keeps the bytes of
 * one request from being sent a second time, later, or to another path (docs/contract.md, Operator
 * API).
 */
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

/** Their names: no other member of a request says who asks and when. */
export const SIGNED_MEMBERS: readonly string[] = Object.keys(signedMembers);

/** What makes a request fresh, by itself: whatever else stands beside it is for its own schema. */
export const freshMembers = z.object(signedMembers).omit({ cid: true });
