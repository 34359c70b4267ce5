import type { BreakerHearsay } from '../outbound/breaker-settings.ts';
import type { BreakerFinding, Wallets } from '../wallets/wallets.ts';

/** What one process is told about a breaker whose state another one's calls have changed. */
export interface BreakerNews {
  readonly operatorId: string;
  readonly callClass: BreakerFinding['callClass'];
  readonly found: BreakerHearsay;
}

/** One of the processes that call the same wallets. */
export type Tell = (news: BreakerNews) => void;

/**
 * Synchronises the breakers of one replica's processes, so that N of them do not probe a failing
 * wallet N times: the first that opens its breaker leads, and probes when it is time to. The others
 * are told to follow, and probe later if that brings no result. Held by the parent process.
 */
export class BreakersTogether {
  readonly #members = new Set<Tell>();
  readonly #leaders = new Map<string, { readonly leader: Tell; readonly news: BreakerNews }>();

  /** A process joins; it is told at once what is open. */
  join(member: Tell): void {
    this.#members.add(member);
    for (const { news } of this.#leaders.values()) member(news);
  }

  /** A process has ended. The others probe by themselves the wallets for which it led. */
  leave(member: Tell): void {
    this.#members.delete(member);
    for (const [key, { leader }] of this.#leaders) if (leader === member) this.#leaders.delete(key);
  }

  /** Call it when a member's own calls have changed its breaker's state. */
  found(from: Tell, { operatorId, callClass, verdict }: BreakerFinding): void {
    const key = `${operatorId}/${callClass}`;
    const first = this.#leaders.get(key);
    if (verdict === 'closed') {
      this.#leaders.delete(key);
      this.#tellOthers(from, { operatorId, callClass, found: 'closed' });
      return;
    }
    const news = { operatorId, callClass, found: 'open' } as const;
    // A process that has probed in vain leads from now on: its predecessor is gone, frozen or
    // without calls.
    if (verdict === 'opened' && first !== undefined && first.leader !== from) {
      from(news);
      return;
    }
    this.#leaders.set(key, { leader: from, news });
    this.#tellOthers(from, news);
  }

  #tellOthers(from: Tell, news: BreakerNews): void {
    for (const member of this.#members) if (member !== from) member(news);
  }
}

/** In the parent process: its own wallets take part like those of its worker processes. */
export function joinHere(together: BreakersTogether, wallets: Wallets): void {
  const member: Tell = ({ operatorId, callClass, found }) =>
    wallets.follow(operatorId, callClass, found);
  together.join(member);
  wallets.onBreakerFinding((finding) => together.found(member, finding));
}

/** In a worker process: tells the parent about its own breakers, and follows the parent's news. */
export function joinParent(wallets: Wallets): void {
  wallets.onBreakerFinding((breakerFinding) => process.send?.({ breakerFinding }));
  process.on('message', (message: unknown) => {
    if (!isNews(message)) return;
    const { operatorId, callClass, found } = message.breakerNews;
    wallets.follow(operatorId, callClass, found);
  });
}

function isNews(message: unknown): message is { breakerNews: BreakerNews } {
  return typeof message === 'object' && message !== null && 'breakerNews' in message;
}

/** Whether a worker process's message is of this kind. */
export function isFinding(message: unknown): message is { breakerFinding: BreakerFinding } {
  return typeof message === 'object' && message !== null && 'breakerFinding' in message;
}
