import { useSyncExternalStore } from 'react';
import { reasonOf } from './answered.tsx';
import { Plain } from './plain.tsx';

/** An action that failed after its button had left the page. */
interface LeftBehindFailure {
  readonly title: string;
  readonly error: Error;
}

const listeners = new Set<() => void>();
let failures: readonly LeftBehindFailure[] = [];

function change(next: readonly LeftBehindFailure[]): void {
  failures = next;
  for (const each of listeners) each();
}

/** Nobody must believe that a failed action was done, even after moving on to another page. */
export function tellLeftBehind(failure: LeftBehindFailure): void {
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
          It failed: <Plain text={failure.title} />.
        </strong>{' '}
        <Plain text={reasonOf(failure.error)} />
      </p>
      <button type="button" onClick={() => change(failures.filter((one) => one !== failure))}>
        Put away
      </button>
    </div>
  ));
}
