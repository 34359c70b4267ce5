import { Client, type ClientConfig } from 'pg';

type Connected = ((error: Error) => void) | ((error: null, client: Client) => void);

/**
 * A client reads the files that its address names (`sslrootcert`, `sslcert`, `sslkey`) when it is made, and a pool makes
 * some where nobody hears an exception: a key that a renewal has left unreadable ended the process, though its
 * connections were all well. This one is made all the same, and does not connect.
 */
class WithoutItsFiles extends Client {
  readonly #why: Error;

  constructor(why: unknown) {
    super({});
    this.#why = why instanceof Error ? why : new Error(String(why));
  }

  override connect(): Promise<Client>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<Client> | undefined {
    if (connected === undefined) return Promise.reject(this.#why);
    process.nextTick(connected, this.#why);
    return undefined;
  }
}

/** For the option `Client` of every pool. */
export const ClientOfPool = new Proxy(Client, {
  construct(Made, [config]: [ClientConfig]) {
    try {
      return new Made(config);
    } catch (error) {
      return new WithoutItsFiles(error);
    }
  },
});
