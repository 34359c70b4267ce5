// Only what is used here: the package has no types of its own.
declare module 'autocannon' {
  export interface Request {
    method?: string;
    path?: string;
    headers?: Record<string, string>;
    body?: string | Buffer;
    setupRequest?: (request: Request) => Request;
  }

  /** One connection. */
  export interface Client {
    /** Builds the first request at once. */
    setRequests(requests: Request[]): void;
    on(event: 'response', told: (status: number, bytes: number, durationMs: number) => void): void;
  }

  export interface Options {
    readonly url: string;
    readonly connections: number;
    /** The total number of requests. */
    readonly amount: number;
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly setupClient?: (client: Client) => void;
  }

  export interface Result {
    /** Broken connections, including timeouts. */
    readonly errors: number;
    readonly timeouts: number;
  }

  export default function autocannon(options: Options): PromiseLike<Result>;
}
