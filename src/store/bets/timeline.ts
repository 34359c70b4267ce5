import { betState } from '../../domain/bet-state.ts';
import { type JsonDocument, jsonObjectIn } from '../../protocol/json.ts';
import { isHeldRow } from '../deliveries/delivery-item.ts';
import type { Prisma } from '../schema/prisma.ts';
import { type AskedBy, askedBy } from './asked-by.ts';
import { type AttemptView, SHOWN_BYTES_MAX, shownAttempts } from './shown-attempts.ts';

const IDS_AT_ONCE = 10_000;

export interface OperationView {
  readonly operation: string;
  /** `gateway`: it rolled back a place of unknown outcome by itself. */
  readonly askedBy: AskedBy;
  readonly requestId: string | null;
  readonly receivedAt: string;
  /** Null while it is unknown, or if the service did not send the request. */
  readonly answer: { readonly status: number; readonly body: string } | null;
  readonly delivery: { readonly id: string; readonly state: string } | null;
  readonly attempts: readonly AttemptView[];
  /** As the service sent it, or as the gateway made it. */
  readonly request: Buffer;
}

/** The freebet of a bet's place, in the service's terms (service protocol, Bet transaction). */
interface Freebet {
  /** A number, or its text if a double cannot hold it. */
  readonly bonusId: number | string | null;
  readonly bonusTemplateId: number | string | null;
  /** Exact text, as `amount`. */
  readonly bonusAmount: string | null;
}

const NO_FREEBET: Freebet = { bonusId: null, bonusTemplateId: null, bonusAmount: null };

export interface BetTimeline extends Freebet {
  readonly transactionId: string;
  readonly operator: string | null;
  readonly operatorUser: string | null;
  readonly userId: string | null;
  readonly state: string;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly place: string;
  readonly settlement: {
    readonly state: string;
    readonly amount: string | null;
    readonly resultType: string | null;
  };
  readonly rollback: string;
  readonly inFlight: string | null;
  readonly createdAt: string;
  readonly operations: readonly OperationView[];
}

/** Whether an operator takes no deliveries now. */
type IsHeld = (operatorId: string) => boolean;

type DeliveryRow = Awaited<ReturnType<Prisma['delivery']['findMany']>>[number];

/** One bet for people: its operations in order, each with its attempts. */
export class BetTimelines {
  readonly #prisma: Prisma;
  readonly #heldNow: (() => Promise<IsHeld>) | undefined;
  readonly #answerBytesMax: number;

  /**
   * @param heldNow shows held deliveries as `held`, for people on duty; without it (for operators) they are pending
   * @param answerBytesMax how much of a wallet's answers is shown
   */
  constructor(
    prisma: Prisma,
    heldNow?: () => Promise<IsHeld>,
    answerBytesMax: number = SHOWN_BYTES_MAX,
  ) {
    this.#prisma = prisma;
    this.#heldNow = heldNow;
    this.#answerBytesMax = answerBytesMax;
  }

  /**
   * @param operatorId finds only this operator's bet: another's looks exactly like a missing one (I8); undefined finds
   *   any operator's, for the admin listener
   */
  async find(
    transactionId: string,
    operatorId: string | undefined,
  ): Promise<BetTimeline | undefined> {
    const bet = await this.#prisma.bet.findFirst({
      where: { transactionId, ...(operatorId === undefined ? {} : { operatorId }) },
    });
    if (bet === null) return undefined;
    const [player, operations] = await Promise.all([
      bet.playerId === null
        ? null
        : this.#prisma.player.findUnique({ where: { id: bet.playerId } }),
      this.#operations(transactionId),
    ]);
    return {
      transactionId,
      operator: bet.operatorId,
      operatorUser: player?.operatorUser ?? null,
      userId: player?.userId ?? null,
      state: betState(bet),
      amount: bet.amount,
      currency: bet.currency,
      // The place comes first; without one, the first operation.
      ...(operations[0] === undefined ? NO_FREEBET : freebetOf(operations[0].request)),
      place: bet.place,
      settlement: {
        state: bet.settlement,
        amount: bet.settlementAmount,
        resultType: bet.settlementType,
      },
      rollback: bet.rollback,
      inFlight: bet.busyOperation,
      createdAt: bet.createdAt.toISOString(),
      operations,
    };
  }

  async #operations(transactionId: string): Promise<readonly OperationView[]> {
    const operations = await this.#prisma.operation.findMany({
      where: { transactionId },
      orderBy: { id: 'asc' },
    });
    const ids = operations.map((operation) => operation.id);
    const [attemptsOf, deliveries] = await Promise.all([
      shownAttempts(this.#prisma, ids, this.#answerBytesMax),
      this.#deliveries(ids),
    ]);
    const deliveryOf = await this.#shownDeliveries(deliveries);
    return operations.map((operation) => {
      const own = attemptsOf.get(operation.id) ?? [];
      // A correction takes precedence over the intended answer (`AnswerCorrection`).
      const meant = own.find((attempt) => attempt.answerStatus !== null) ?? operation;
      const answered = operation.answerStatus === null ? meant : operation;
      const delivery = deliveryOf.get(operation.id);
      const by = askedBy(operation.attemptId);
      return {
        operation: operation.operation,
        askedBy: by,
        requestId: operation.requestId,
        receivedAt: operation.createdAt.toISOString(),
        answer:
          by === 'gateway' || answered.answerStatus === null || answered.answerBody === null
            ? null
            : { status: answered.answerStatus, body: answered.answerBody },
        delivery: delivery ?? null,
        attempts: own.map(({ view }) => view),
        request: Buffer.from(operation.body),
      };
    });
  }

  /** Each id is a parameter, and a statement has at most 32,767. */
  async #deliveries(ids: readonly bigint[]): Promise<readonly DeliveryRow[]> {
    const parts: (readonly DeliveryRow[])[] = [];
    for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
      const operationId = { in: ids.slice(from, from + IDS_AT_ONCE) };
      const where = { operationId, state: { not: 'live' } };
      parts.push(await this.#prisma.delivery.findMany({ where }));
    }
    return parts.flat();
  }

  /** For each operation: a dead letter, which waits for a person, else a promise, else its confirmation. */
  async #shownDeliveries(
    rows: readonly DeliveryRow[],
  ): Promise<ReadonlyMap<bigint, { readonly id: string; readonly state: string }>> {
    const isPending = rows.some(({ state }) => state === 'pending');
    const isHeld = isPending ? await this.#heldNow?.() : undefined;
    const {
      confirm = [],
      promise = [],
      dead = [],
    } = Object.groupBy(rows, ({ purpose, state }) => {
      if (state === 'dead') return state;
      return purpose === 'confirm' ? purpose : 'promise';
    });
    return new Map(
      [...confirm, ...promise, ...dead].map((row) => {
        const isHeldNow = row.state === 'pending' && isHeld !== undefined && isHeldRow(row, isHeld);
        return [row.operationId, { id: String(row.id), state: isHeldNow ? 'held' : row.state }];
      }),
    );
  }
}

/** The freebet in a stored message; all null if there is none. */
function freebetOf(message: Buffer): Freebet {
  const document = jsonObjectIn(message);
  if (document === undefined) return NO_FREEBET;
  return {
    bonusId: idOf(document, 'bonusId'),
    bonusTemplateId: idOf(document, 'bonusTemplateId'),
    bonusAmount: document.numberText('bonusAmount') ?? null,
  };
}

function idOf(document: JsonDocument, name: string): number | string | null {
  const text = document.numberText(name);
  if (text === undefined) return null;
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
}
