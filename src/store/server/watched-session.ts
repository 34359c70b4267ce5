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

/** `there`: also if the server cannot say. `gone`: it has no such session. `nothing`: not one byte came. */
type Heard = 'there' | 'gone' | 'nothing';

/** The network has lost a session. Its last statement may have taken effect. */
class SessionLost extends Error {
  /** As the system's own error, which would come a quarter of an hour later. */
  readonly code = 'ETIMEDOUT';

  constructor(why: string) {
    super(`${why}: what was under way may have taken effect or not; look, then try again`);
    this.name = 'SessionLost';
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
  #isAsking = false;
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
    this.socket.once('close', () => clearInterval(this.#timer));
  }

  async #look(pid: number): Promise<void> {
    const { bytesRead } = this.socket;
    if (bytesRead !== this.#bytesSeen) {
      this.#bytesSeen = bytesRead;
      this.#unanswered = 0;
      return;
    }
    if (this.#isAsking) return;
    this.#isAsking = true;
    // A certificate that cannot be read at present, say, tells nothing about the session.
    const heard = await this.#ask(pid).catch((): Heard => 'there');
    this.#isAsking = false;
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

  async #ask(pid: number): Promise<Heard> {
    const { answerMs } = this.#patience;
    const socket = new Socket();
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
    } catch {
      // A full server refuses it, and a pooler lets it wait: both have said something, and are there.
      return socket.bytesRead === 0 ? 'nothing' : 'there';
    } finally {
      await client.end();
    }
  }
}
