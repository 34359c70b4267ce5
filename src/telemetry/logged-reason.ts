const CHARS_MAX = 200;

/** A refusal's message, cut for the `reason` of a log line: it names a member, which may be as long as the body. */
export function loggedReason(message: string): string {
  return message.slice(0, CHARS_MAX);
}
