/** A list cannot be compared; the message says what to do. Nothing that was read of it is used. */
export class Incomparable extends Error {
  override readonly name: string = 'Incomparable';
}

/** The list is larger than allowed. */
export class ListTooLarge extends Incomparable {
  override readonly name = 'ListTooLarge';
}
