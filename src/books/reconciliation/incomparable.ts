/** A list cannot be compared; the message says what to do. What was read of it means nothing. */
export class Incomparable extends Error {
  override readonly name: string = 'Incomparable';
}

/** It is larger than allowed. */
export class ListTooLarge extends Incomparable {
  override readonly name = 'ListTooLarge';
}
