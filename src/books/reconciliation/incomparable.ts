/** A list cannot be compared, in words that say what to do. Whatever was read of it says nothing. */
export class Incomparable extends Error {
  override readonly name: string = 'Incomparable';
}

/** It is larger than may be. */
export class ListTooLarge extends Incomparable {
  override readonly name = 'ListTooLarge';
}
