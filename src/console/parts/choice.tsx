import { wordsOf } from './tone.ts';

interface ChoiceProps {
  readonly label: string;
  readonly value: string | undefined;
  /** The text of the empty choice. */
  readonly all: string;
  readonly options: readonly string[];
  readonly onChange: (value: string | undefined) => void;
}

/** A choice of one of a few words, or none. */
export function Choice({ label, value, all, options, onChange }: ChoiceProps) {
  // An address may name an option that no longer exists; it stays visible.
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
