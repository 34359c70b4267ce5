import { plain } from '../../lib/plain-text.ts';
import { columns, table } from '../../lib/table.ts';
import type { DeliveryItem } from '../../store/deliveries/delivery-item.ts';
import { timeOf } from './bet-text.ts';

const COLUMNS = columns(
  [
    'id',
    'operator',
    'operation',
    'transactionId',
    'state',
    'attempts',
    'created (UTC)',
    'next attempt (UTC)',
    'last error',
  ],
  ['id', 'attempts'],
);

/** One line per delivery, in columns. */
export function deliveriesTable(items: readonly DeliveryItem[]): string {
  return table(
    COLUMNS,
    items.map((item) => [
      item.id,
      item.operator,
      item.operation,
      plain(item.transactionId),
      stateOf(item),
      String(item.attempts),
      timeOf(item.createdAt),
      item.nextAttemptAt === null ? '-' : timeOf(item.nextAttemptAt),
      plain(item.lastError ?? '-'),
    ]),
  );
}

/** Without this note, a confirmed rollback that is repeated would look like money that a player still waits for. */
function stateOf({ state, purpose }: DeliveryItem): string {
  return purpose === 'confirm' ? `${state} (confirmed already, repeated by design)` : state;
}

/** `delivery 12 (alpha's rollback of 6531f9bc)`, as the beginning of a sentence. */
export function deliveryName({ id, operator, operation, transactionId }: DeliveryItem): string {
  return `delivery ${id} (${operator}'s ${operation} of ${plain(transactionId)})`;
}
