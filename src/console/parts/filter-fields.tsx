import { operatorIds, useLive } from '../api/queries.ts';
import { Choice } from './choice.tsx';
import { TextFilter } from './text-filter.tsx';

/** The fields of a list's filter, by the names of its members; `set` gets what was changed. */
export function filterFields<Filter extends Readonly<Record<string, string | undefined>>>(
  filter: Filter,
  set: (change: Readonly<Record<string, string | undefined>>) => void,
) {
  const field = (name: keyof Filter & string) => ({
    value: filter[name],
    onChange: (value: string | undefined) => set({ [name]: value }),
  });
  return {
    text: (name: keyof Filter & string, label: string, type: 'search' | 'date' = 'search') => (
      <TextFilter label={label} type={type} {...field(name)} />
    ),
    choice: (
      name: keyof Filter & string,
      label: string,
      all: string,
      options: readonly string[],
    ) => <Choice label={label} all={all} options={options} {...field(name)} />,
    operator: () => <OperatorChoice {...field('operator')} />,
  };
}

interface OperatorChoiceProps {
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

/** A choice of one operator, or all. */
function OperatorChoice({ value, onChange }: OperatorChoiceProps) {
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
