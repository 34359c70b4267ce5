import { useState } from 'react';
import { reasonOf } from './answered.tsx';
import { Plain } from './plain.tsx';

interface DownloadButtonProps {
  readonly label: string;
  /** Resolves when the browser has the file. */
  readonly fetch: () => Promise<void>;
}

/** A button that downloads a file, and shows beside it if that failed. */
export function DownloadButton({ label, fetch }: DownloadButtonProps) {
  const [state, setState] = useState<'idle' | 'running' | Error>('idle');
  const onClick = () => {
    setState('running');
    fetch().then(
      () => setState('idle'),
      (error: unknown) => setState(error instanceof Error ? error : new Error(String(error))),
    );
  };
  return (
    <>
      {state instanceof Error && (
        <span className="failed" role="alert">
          <Plain text={reasonOf(state)} />
        </span>
      )}
      <button type="button" onClick={onClick} disabled={state === 'running'}>
        {state === 'running' ? 'Loading…' : label}
      </button>
    </>
  );
}
