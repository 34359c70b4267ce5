import type { OperatorConfig } from '../../config/schema/schema.ts';
import { columns, table } from '../../lib/table.ts';

/** What may be shown about an operator: no secrets. */
export interface OperatorSummary {
  readonly id: string;
  readonly name: string;
  readonly status: OperatorConfig['status'];
  readonly sessions: OperatorConfig['sessions']['mode'];
  readonly currencies: readonly string[];
  readonly adapter: string;
  readonly wallet: string;
}

export function operatorSummary(operator: OperatorConfig): OperatorSummary {
  const { id, name, status, sessions, currencies, wallet } = operator;
  return {
    id,
    name,
    status,
    sessions: sessions.mode,
    currencies,
    adapter: wallet.adapter,
    wallet: wallet.baseUrl,
  };
}

const COLUMNS = columns(['id', 'name', 'status', 'sessions', 'currencies', 'wallet']);

/** One line per operator, in columns. */
export function operatorsTable(operators: readonly OperatorSummary[]): string {
  return table(
    COLUMNS,
    operators.map(({ id, name, status, sessions, currencies, wallet }) => [
      id,
      name,
      status,
      sessions,
      currencies.join(','),
      wallet,
    ]),
  );
}
