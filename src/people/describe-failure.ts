import {
  AuthorizationResponseError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';

/** Longer than any reason; some of it comes from an address that a browser sent. */
const WORDS_LENGTH_MAX = 500;
/** How deep the causes of an error are followed. */
const CAUSES_MAX = 4;

/** What went wrong at the issuer, for the log: the details stand in a cause, which may also hold tokens. */
export function describeFailure(error: unknown): string {
  const words = partsOf(error, 0).filter((part, at, all) => all.indexOf(part) === at);
  return words.join(': ').slice(0, WORDS_LENGTH_MAX);
}

function partsOf(error: unknown, depth: number): readonly string[] {
  if (error instanceof Response) return [`status ${error.status}`];
  if (!(error instanceof Error)) return depth === 0 ? [String(error)] : differenceIn(error);
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    return [error.error, error.error_description].filter((part) => part !== undefined);
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    return error.cause.flatMap(({ scheme, parameters }) => [
      `status ${error.status}, ${scheme}`,
      ...[parameters.error, parameters.error_description].filter((part) => part !== undefined),
    ]);
  }
  const causes = depth < CAUSES_MAX ? partsOf(error.cause, depth + 1) : [];
  return error.message === '' ? causes : [error.message, ...causes];
}

/** Of metadata that belongs to another issuer: which one was expected, and which one it names. */
function differenceIn(cause: unknown): readonly string[] {
  if (typeof cause !== 'object' || cause === null) return [];
  const { attribute, expected, body } = cause as Readonly<Record<string, unknown>>;
  if (attribute !== 'issuer' || typeof body !== 'object' || body === null) return [];
  return [`expected ${String(expected)}, it names ${String(Reflect.get(body, 'issuer'))}`];
}
