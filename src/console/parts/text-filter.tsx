import { type FormEvent, useEffect, useId, useRef } from 'react';

interface TextFilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly type?: 'search' | 'date';
  readonly onChange: (value: string | undefined) => void;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A text that filters a list: applied at Enter, or when the field loses focus. */
export function TextFilter({ label, value, type = 'search', onChange }: TextFilterProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  // The field is not replaced when its value changes: after Enter, the person types on in it.
  useEffect(() => {
    if (input.current !== null) input.current.value = value ?? '';
  }, [value]);
  // A link may name a time to the second. A date field would show it as empty, and clear it on leaving.
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
