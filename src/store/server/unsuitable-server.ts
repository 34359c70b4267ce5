/** The database would break the gateway's promises. The message follows the server's name. */
export class UnsuitableServer extends Error {
  override readonly name = 'UnsuitableServer';
}
