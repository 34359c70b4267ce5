import { plain } from '../../lib/plain-text.ts';
import { table } from '../../lib/table.ts';
import type { DeliveryItem } from '../../store/deliveries/delivery-item.ts';
import { timeOf } from './bet-text.ts';

const COLUMNS = [
  { title: 'id', align: 'right' },
  { title: 'operator', align: 'left' },
  { title: 'operation', align: 'left' },
  { title: 'transactionId', align: 'left' },
  { title: 'state', align: 'left' },
  { title: 'attempts', align: 'right' },
  { title: 'created (UTC)', align: 'left' },
  { title: 'next attempt (UTC)', align: 'left' },
  { title: 'last error', align: 'left' },
] as const;

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
