import { useState } from 'react';
import { Plain } from './plain.tsx';
import { visibleText } from './visible.ts';

const SHOWN_MS = 1_500;

/** Copies a text to the clipboard. @returns whether that worked */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers offer a clipboard only to secure origins; the person can still select the text.
    return false;
  }
}

/** A button that copies, and says whether it did. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [done, setDone] = useState<'copied' | 'cannot copy' | undefined>();
  const onClick = () =>
    void copy(text).then((copied) => {
      setDone(copied ? 'copied' : 'cannot copy');
      window.setTimeout(() => setDone(undefined), SHOWN_MS);
    });
  return (
    <button type="button" className="copy" onClick={onClick} aria-label={label} title={label}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" className="icon">
        {done === undefined ? (
          <path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />
        ) : done === 'copied' ? (
          <path d="M3 8.5l3.5 3.5L13 4.5" />
        ) : (
          <path d="M4 4l8 8M12 4l-8 8" />
        )}
      </svg>
      <span className="sr-only" role="status">
        {done}
      </span>
    </button>
  );
}

/** An id as it is, with a button that copies it. */
export function Id({ text, name }: { readonly text: string | null; readonly name: string }) {
  if (text === null) return <span className="muted">not known</span>;
  return (
    <span className="id">
      <code>
        <Plain text={text} />
      </code>
      <CopyButton text={text} label={`Copy ${name} ${visibleText(text)}`} />
    </span>
  );
}

/** An amount with its exact text, never converted to a number. */
export function Amount({
  amount,
  currency,
}: {
  readonly amount: string | null;
  readonly currency: string | null;
}) {
  if (amount === null) return <span className="muted">–</span>;
  return (
    <span className="amount">
      <Plain text={amount} />{' '}
      {currency !== null && (
        <span className="muted">
          <Plain text={currency} />
        </span>
      )}
    </span>
  );
}
