import { type FormEvent, useId } from 'react';

interface TextFilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly type?: 'search' | 'date';
  readonly onChange: (value: string | undefined) => void;
}

/** A text that a list is filtered by: in force at Enter, or when the field is left. */
export function TextFilter({ label, value, type = 'search', onChange }: TextFilterProps) {
  const id = useId();
  const take = (text: string) => onChange(text.trim() === '' ? undefined : text.trim());
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    take(String(new FormData(event.currentTarget).get('text') ?? ''));
  };
  return (
    <form onSubmit={submit} className="field">
      <label htmlFor={id}>{label}</label>
      <input
        key={value ?? ''}
        id={id}
        name="text"
        type={type}
        defaultValue={value ?? ''}
        onBlur={({ target }) => take(target.value)}
        autoComplete="off"
        spellCheck={false}
      />
    </form>
  );
}
