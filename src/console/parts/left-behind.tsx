import { useSyncExternalStore } from 'react';
import { mayHaveBeenDone } from '../api/call.ts';
import { reasonOf } from './answered.tsx';
import { Plain } from './plain.tsx';

/** An action that failed, or was never confirmed, after its button had left the page. */
interface LeftBehindFailure {
  readonly title: string;
  /** Undefined where its window went before it was confirmed. */
  readonly error?: Error;
  /** What was typed as the reason until then. */
  readonly typed?: string;
}

const listeners = new Set<() => void>();
let failures: readonly LeftBehindFailure[] = [];

function change(next: readonly LeftBehindFailure[]): void {
  failures = next;
  for (const each of listeners) each();
}

/** Nobody must believe that a failed action was done, even after moving on to another page. */
export function reportLeftBehind(failure: LeftBehindFailure): void {
  change([...failures, failure]);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows these failures on every page until they are dismissed. */
export function LeftBehind() {
  const shown = useSyncExternalStore(subscribe, () => failures);
  return shown.map((failure, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: two may say the same
    <div key={at} className="notice bad" role="alert">
      <p>
        <strong>
          {headOf(failure.error)}: <Plain text={failure.title} />.
        </strong>{' '}
        {failure.error === undefined ? (
          <Unconfirmed typed={failure.typed ?? ''} />
        ) : (
          <Why error={failure.error} />
        )}
      </p>
      <button type="button" onClick={() => change(failures.filter((one) => one !== failure))}>
        Put away
      </button>
    </div>
  ));
}

function headOf(error: Error | undefined): string {
  if (error === undefined) return 'Not done';
  return mayHaveBeenDone(error) ? 'Not known whether it was done' : 'It failed';
}

function Unconfirmed({ typed }: { readonly typed: string }) {
  return (
    <>
      What it was about has changed, so its window is closed.
      {typed !== '' && (
        <>
          {' '}
          You had typed: <Plain text={typed} />
        </>
      )}
    </>
  );
}

/** Why an action failed, and what that leaves open. */
export function Why({ error }: { readonly error: Error }) {
  return (
    <span>
      <Plain text={reasonOf(error)} />
      {mayHaveBeenDone(error) && '. It may have been done: look before you do it again.'}
    </span>
  );
}
