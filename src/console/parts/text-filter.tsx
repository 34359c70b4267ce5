import { type FormEvent, useEffect, useId, useRef } from 'react';

interface TextFilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly type?: 'search' | 'date';
  readonly onChange: (value: string | undefined) => void;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A text that a list is filtered by: in force at Enter, or when the field is left. */
export function TextFilter({ label, value, type = 'search', onChange }: TextFilterProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  // Not a new field for each value: whoever has pressed Enter goes on from here.
  useEffect(() => {
    if (input.current !== null) input.current.value = value ?? '';
  }, [value]);
  // A link may name a time to the second, which a field for days would hide, and drop when it is left.
  const isDay = type === 'date' && (value === undefined || DAY.test(value));
  const take = (text: string) => onChange(text.trim() === '' ? undefined : text.trim());
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    take(String(new FormData(event.currentTarget).get('text') ?? ''));
  };
  return (
    <form onSubmit={submit} className="field">
      <label htmlFor={id}>{label}</label>
      <input
        ref={input}
        id={id}
        name="text"
        type={isDay ? 'date' : 'search'}
        defaultValue={value ?? ''}
        onBlur={({ target }) => take(target.value)}
        autoComplete="off"
        spellCheck={false}
      />
    </form>
  );
}
