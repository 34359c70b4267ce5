import { wordsOf } from './tone.ts';

interface ChoiceProps {
  readonly label: string;
  readonly value: string | undefined;
  /** What no choice is called. */
  readonly all: string;
  readonly options: readonly string[];
  readonly onChange: (value: string | undefined) => void;
}

/** One of a few words, or none of them. */
export function Choice({ label, value, all, options, onChange }: ChoiceProps) {
  // An address may name what is no longer there; it stays visible.
  const shown = value === undefined || options.includes(value) ? options : [value, ...options];
  return (
    <select
      aria-label={label}
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
    >
      <option value="">{all}</option>
      {shown.map((option) => (
        <option key={option} value={option}>
          {wordsOf(option)}
        </option>
      ))}
    </select>
  );
}
