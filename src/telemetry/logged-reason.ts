const CHARS_MAX = 200;

/** The words of a refusal for the `reason` of a log line: they name a member, whose name may be as long as the body. */
export function loggedReason(message: string): string {
  return message.slice(0, CHARS_MAX);
}
