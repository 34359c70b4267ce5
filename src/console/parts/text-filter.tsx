import { type FormEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';

interface TextFilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly type?: 'search' | 'date';
  readonly onChange: (value: string | undefined) => void;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A text that filters a list: applied at Enter, or when the field loses focus. An incomplete day is not. */
export function TextFilter({ label, value, type = 'search', onChange }: TextFilterProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [isBad, setBad] = useState(false);
  // The field is not replaced when its value changes: after Enter, the person types on in it.
  useEffect(() => {
    if (input.current !== null) input.current.value = value ?? '';
    setBad(false);
  }, [value]);
  // A link may name a time to the second. A date field would show it as empty, and clear it on leaving.
  const isDay = type === 'date' && (value === undefined || DAY.test(value));
  const take = (text: string) => onChange(text.trim() === '' ? undefined : text.trim());
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBad(false);
    take(String(new FormData(event.currentTarget).get('text') ?? ''));
  };
  const leave = ({ value: text, validity }: HTMLInputElement) => {
    setBad(validity.badInput);
    if (!validity.badInput) take(text);
  };
  // At Enter browsers send a form from a text field but not from one for days. What is no day they tell the person here.
  const onKey = ({ key, currentTarget }: KeyboardEvent<HTMLInputElement>) => {
    if (isDay && key === 'Enter') currentTarget.form?.requestSubmit();
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
        onBlur={({ target }) => leave(target)}
        onKeyDown={onKey}
        aria-invalid={isBad}
        aria-describedby={isBad ? `${id}-bad` : undefined}
        autoComplete="off"
        spellCheck={false}
      />
      {isBad && (
        <span id={`${id}-bad`} className="failed" role="alert">
          No such day: not searched by
        </span>
      )}
    </form>
  );
}
