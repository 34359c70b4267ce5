/**
 * The database is set up in a way that would break the gateway's promises. The message continues a sentence
 * that begins with the server's name.
 */
export class UnsuitableServer extends Error {
  override readonly name = 'UnsuitableServer';
}
