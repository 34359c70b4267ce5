import { Command, Option } from 'commander';
import { DELIVERABLE_OPERATIONS, type DeliverableOperation } from '../../domain/operation.ts';
import { unreachable } from '../../domain/unreachable.ts';
import type { Authority } from '../../store/audit/audited.ts';
import {
  type DeliveryAdmin,
  RETRIED_AT_ONCE_MAX,
  RETRYABLE_STATES,
  type RetryableState,
} from '../../store/deliveries/delivery-admin.ts';
import { byOf, recordedText } from '../caller.ts';
import {
  type DeliveryCommandOptions,
  deliveryId,
  noSuchDelivery,
  withDeliveryAdmin,
} from '../delivery-admin.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import { untilInterrupted } from '../interruption.ts';
import type { Terminal } from '../terminal.ts';
import { deliveryName } from '../text/deliveries-table.ts';
import { warnOfUnknownOperator } from '../unknown-operator.ts';

interface Options extends DeliveryCommandOptions {
  readonly operator?: string;
  readonly state?: RetryableState;
  readonly operation?: DeliverableOperation;
  readonly reason?: string;
  readonly json?: true;
}

/** `wagergate deliveries retry`: makes one delivery, or an operator's deliveries in one state, due now. */
export function deliveriesRetryCommand(terminal: Terminal): Command {
  const command = new Command('retry')
    .summary('makes deliveries due now')
    .description(
      'Makes a pending, held or dead delivery due now, with a new horizon; or all of an operator in ' +
        'one state. A running gateway delivers them within a second or two, held ones when their ' +
        'operator takes calls again. A dead one stays dead if a later operation of its bet was ' +
        'delivered: sent now, it would undo that operation. What is retried cannot be resolved before ' +
        'it is dead again: for days, if its wallet refuses it once more.',
    )
    .argument('[id]', 'the delivery, as `deliveries list` shows it')
    .option('--operator <id>', 'all of this operator; needs --state')
    .addOption(new Option('--state <state>', 'those in this state').choices(RETRYABLE_STATES))
    .addOption(
      new Option('--operation <name>', 'of those only this kind').choices(DELIVERABLE_OPERATIONS),
    )
    .option('--reason <why>', 'kept in the audit', recordedText('--reason'))
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print the delivery, or how many, as JSON')
    .action((id: string | undefined, options: Options) => retry(terminal, id, options));
  return withExamples(
    command,
    { line: 'deliveries retry 4711' },
    { line: 'deliveries retry --operator alpha --state dead --operation rollback' },
  );
}

async function retry(terminal: Terminal, id: string | undefined, options: Options): Promise<void> {
  const { operator, state, operation } = options;
  if (id !== undefined && (operator ?? state ?? operation) === undefined) {
    await retryOne(terminal, deliveryId(id), options);
  } else if (id === undefined && operator !== undefined && state !== undefined) {
    await retryAll(terminal, operator, state, options);
  } else {
    throw new UsageError('give either a delivery id, or both --operator and --state');
  }
}

/** An overtaken result must not be delivered by hand either. */
const CORRECT_FIRST =
  'see with `wagergate bet` what the service was last answered 200 for, have the wallet hold that';

async function retryOne(terminal: Terminal, id: string, options: Options): Promise<void> {
  const { result, waits } = await withDeliveryAdmin(terminal, options, async (admin) => {
    const retried = await admin.retry(id, byOf(options));
    const isHeld = retried.kind === 'retried' && retried.item.state === 'held';
    const takesNone = isHeld && (await admin.heldNow())(retried.item.operator);
    return { result: retried, waits: takesNone };
  });
  switch (result.kind) {
    case 'missing':
      throw noSuchDelivery(id);
    case 'notRetryable':
      throw new CommandFailed(
        `delivery ${id} is ${result.state}: only pending, held and dead ones are retried`,
      );
    case 'atItsLast':
      throw new CommandFailed(
        `the last attempt of delivery ${id} is under way, or has just ended: look again in a few seconds`,
      );
    case 'overtaken':
      throw new CommandFailed(
        `delivery ${id} was overtaken by a later operation of its bet, which it would undo: ` +
          `${CORRECT_FIRST}, then \`wagergate deliveries resolve ${id}\``,
      );
    case 'retried': {
      if (options.json) terminal.printJson(result.item);
      else terminal.print(`${deliveryName(result.item)} is ${whenDue(result.item.state, waits)}`);
      return;
    }
    default:
      return unreachable(result);
  }
}

/** @param waits whether the operator itself takes none; otherwise what is held belongs to another wallet */
function whenDue(state: string, waits: boolean): string {
  if (state !== 'held') return 'due now';
  return waits
    ? 'due as soon as its operator takes deliveries again'
    : 'due as soon as `wagergate deliveries release` lets its bet go to the present wallet';
}

async function retryAll(
  terminal: Terminal,
  operator: string,
  state: RetryableState,
  options: Options,
): Promise<void> {
  const by = byOf(options);
  const { operation } = options;
  const done = await withDeliveryAdmin(terminal, options, async (admin) => {
    const sum = await untilInterrupted(
      () => terminal.tell('stopping after those under way ...'),
      (signal) => retryPieces(terminal, admin, { operator, state, operation, by, signal }),
    );
    const rest = state === 'dead' ? await admin.count({ operator, state, operation }) : undefined;
    const waits = state !== 'pending' && (await admin.heldNow())(operator);
    const asks = sum === 0 ? state === 'pending' : waits && state === 'dead';
    const held = asks ? await admin.count({ operator, state: 'held', operation }) : undefined;
    return { retried: sum, left: rest?.count ?? 0, held: held?.count ?? 0, waits };
  });
  if (options.json) terminal.printJson({ operator, state, retried: done.retried });
  else {
    const kind = operation === undefined ? 'deliveries' : `deliveries (${operation})`;
    const due = whenDue(done.waits && done.retried > 0 ? 'held' : state, done.waits);
    terminal.print(`${done.retried} ${state} ${kind} of ${operator} are ${due}`);
  }
  const notes = notesOn(done);
  for (const note of notes) terminal.tell(note);
  if (notes.length === 0 && done.retried === 0) {
    warnOfUnknownOperator(terminal, options.folder, operator);
  }
}

interface Pieces {
  readonly operator: string;
  readonly state: RetryableState;
  readonly operation: DeliverableOperation | undefined;
  readonly by: Authority;
  readonly signal: AbortSignal;
}

/** @returns how many were retried @throws Interrupted once a piece is done: none is left half done without a word */
async function retryPieces(
  terminal: Terminal,
  admin: DeliveryAdmin,
  { operator, state, operation, by, signal }: Pieces,
): Promise<number> {
  let sum = 0;
  let cursor: string | undefined;
  do {
    const which = { operation, cursor, limit: RETRIED_AT_ONCE_MAX };
    const piece = await admin.retrySome(operator, state, which, by);
    sum += piece.retried;
    cursor = piece.nextCursor ?? undefined;
    // What is done stays done, whatever fails: a second run continues with the rest.
    if (cursor !== undefined) terminal.tell(`... ${sum} deliveries, up to ${cursor}`);
    if (cursor !== undefined && signal.aborted) {
      terminal.tell(
        `${sum} were retried, the others are as they were: once more goes on with them`,
      );
      throw signal.reason;
    }
  } while (cursor !== undefined);
  return sum;
}

interface RetriedAll {
  readonly retried: number;
  /** Still dead. */
  readonly left: number;
  readonly held: number;
  /** Whether the operator takes no deliveries at present. */
  readonly waits: boolean;
}

/** What a person has to know of those that do not go out: a hold that nobody remembers keeps them for good. */
function notesOn({ retried, left, held }: RetriedAll): string[] {
  const notes: string[] = [];
  if (left > 0) {
    notes.push(
      `left dead: ${left}, overtaken by a later operation of the bet, or refused again: ` +
        `${CORRECT_FIRST}, then \`wagergate deliveries resolve <id>\``,
    );
  }
  if (held > 0) {
    const next =
      retried > 0
        ? '`wagergate operator status` says which'
        : '`--state held` has them due once it does';
    notes.push(`held: ${held}, by a person or because the operator takes none: ${next}`);
  }
  return notes;
}
