import { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { clientRows } from '../sql/client-rows.ts';

export interface SessionPatience {
  /** After this long without a byte, the server is asked about the session on another connection. */
  readonly silentMs: number;
  /** How long each step of that may take. */
  readonly answerMs: number;
}

const PATIENCE: SessionPatience = { silentMs: 30_000, answerMs: 10_000 };

/** After this many questions in a row that brought not one byte, nothing comes through any more. */
const UNANSWERED_MAX = 4;

/** `there`: also if nobody can say. `gone`: the server has no such session. `nothing`: the network swallowed it. */
type Heard = 'there' | 'gone' | 'nothing';

/**
 * How a connection fails behind which nobody is. Whoever refuses or breaks one is there, such as a load balancer that has
 * no server for further ones, and what this process lacks itself (`EMFILE`) tells nothing.
 */
const SWALLOWED: ReadonlySet<string> = new Set([
  'timeout',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
]);

/** The network has lost a session. Its last statement may have taken effect. */
class SessionLost extends Error {
  /** As the system's own error, which would come a quarter of an hour later. */
  readonly code = 'ETIMEDOUT';

  constructor(why: string) {
    super(`${why}: what was under way may have taken effect or not; look, then try again`);
    this.name = 'SessionLost';
  }
}

/** Leads to where another connection leads, whatever its name leads to by now, or if it leads nowhere at present. */
class SameWay extends Socket {
  readonly #address: string;

  constructor(address: string) {
    super();
    this.#address = address;
  }

  /** As `pg` calls it, for a server that is not on a Unix socket. */
  override connect(port: unknown): this {
    return super.connect({ port: Number(port), host: this.#address });
  }
}

/**
 * The connection of a session whose statements may take long, so that no time limit says that an answer will not come.
 * Keepalives notice a dead network only while nothing is sent. A statement that is sent into one is repeated by the
 * kernel for a quarter of an hour, and if a firewall has forgotten the connection, no return of the network ends that.
 * So the server is asked on another connection, which shows both.
 */
export class WatchedSession {
  /** For `pg` to connect. */
  readonly socket = new Socket();
  readonly #further: ClientConfig;
  readonly #patience: SessionPatience;
  #timer: NodeJS.Timeout | undefined;
  #bytesSeen = 0;
  #asking: Socket | undefined;
  #unanswered = 0;

  /** @param further how to connect once more */
  constructor(further: ClientConfig, patience = PATIENCE) {
    this.#further = further;
    this.#patience = patience;
  }

  /** @param pid the session's, `pg_backend_pid()`: a pooler gives its clients other numbers */
  begin(pid: number): void {
    const look = () => void this.#look(pid);
    this.#timer = setInterval(look, this.#patience.silentMs).unref();
    this.socket.once('close', () => {
      clearInterval(this.#timer);
      this.#asking?.destroy();
    });
  }

  async #look(pid: number): Promise<void> {
    const { bytesRead } = this.socket;
    if (bytesRead !== this.#bytesSeen) {
      this.#bytesSeen = bytesRead;
      this.#unanswered = 0;
      return;
    }
    if (this.#asking !== undefined) return;
    const { remoteAddress } = this.socket;
    const asking = remoteAddress === undefined ? new Socket() : new SameWay(remoteAddress);
    this.#asking = asking;
    // A certificate that cannot be read at present, say, tells nothing about the session.
    const heard = await this.#ask(pid, asking).catch((): Heard => 'there');
    this.#asking = undefined;
    if (this.socket.bytesRead !== bytesRead) return;
    this.#unanswered = heard === 'nothing' ? this.#unanswered + 1 : 0;
    if (heard === 'gone') this.#giveUp('PostgreSQL has no such session any more');
    if (this.#unanswered >= UNANSWERED_MAX) {
      const seconds = Math.round((UNANSWERED_MAX * this.#patience.silentMs) / 1_000);
      this.#giveUp(`nothing has come from PostgreSQL for ${seconds} s`);
    }
  }

  #giveUp(why: string): void {
    this.socket.destroy(new SessionLost(why));
  }

  async #ask(pid: number, socket: Socket): Promise<Heard> {
    const { answerMs } = this.#patience;
    const client = new Client({
      ...this.#further,
      stream: () => socket,
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      // Behind an address that leads to several servers, a standby knows nothing of the primary's sessions.
      const [mayLive] = await clientRows(
        client,
        `SELECT pg_is_in_recovery() OR EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1) AS may_live`,
        [pid],
        (row) => row.bool('may_live'),
      );
      return mayLive === false ? 'gone' : 'there';
    } catch (error) {
      // A full server refuses it, and a pooler lets it wait: both have said something, and are there.
      if (socket.bytesRead > 0 || socket.readableEnded) return 'there';
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'timeout';
      return SWALLOWED.has(code) ? 'nothing' : 'there';
    } finally {
      // The network may swallow the end as well.
      socket.setTimeout(answerMs, () => socket.destroy());
      await client.end();
    }
  }
}
