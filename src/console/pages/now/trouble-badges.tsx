import { Badge } from '../../parts/badge.tsx';
import { type OperatorRow, troublesOf } from './severity.ts';

/** What is wrong with an operator, a badge each. */
export function TroubleBadges({ row }: { readonly row: OperatorRow }) {
  const troubles = troublesOf(row);
  if (troubles.length === 0) return <Badge state="all well" tone="good" />;
  return troubles.map(({ tone, text }) => <Badge key={text} state={text} tone={tone} />);
}
