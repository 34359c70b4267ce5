import { useEffect, useRef } from 'react';

interface QuickFilterProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A text that filters a list as it is typed. It keeps its own text: the address follows a moment later. */
export function QuickFilter({ label, placeholder, value, onChange }: QuickFilterProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const { current } = input;
    if (current !== null && current !== document.activeElement) current.value = value;
  }, [value]);
  return (
    <input
      ref={input}
      type="search"
      className="filter"
      aria-label={label}
      placeholder={placeholder}
      defaultValue={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
