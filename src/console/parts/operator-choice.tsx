import { operatorIds, useLive } from '../api/queries.ts';
import { Choice } from './choice.tsx';

interface OperatorChoiceProps {
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

/** A choice of one operator, or all. */
export function OperatorChoice({ value, onChange }: OperatorChoiceProps) {
  const { data } = useLive('GET /admin/operators', { everyMs: false });
  return (
    <Choice
      label="Operator"
      value={value}
      all="All operators"
      options={data === undefined ? [] : operatorIds(data)}
      onChange={onChange}
    />
  );
}
