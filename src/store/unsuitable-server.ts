/**
 * The database is set up so that the gateway could not keep its promises there. The message goes on after
 * the server's name.
 */
export class UnsuitableServer extends Error {
  override readonly name = 'UnsuitableServer';
}
