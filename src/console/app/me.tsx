import { AnswerError, signOut } from '../api/call.ts';
import { refreshAll, useLive } from '../api/queries.ts';
import { reportLeftBehind } from '../parts/left-behind.tsx';
import { Plain } from '../parts/plain.tsx';
import { visibleText } from '../parts/visible.ts';

/** Who is signed in, with which role, and the button to sign out. */
export function Me() {
  const { data, error } = useLive('GET /admin/me', { everyMs: false });
  const isOver = error instanceof AnswerError && error.status === 401;
  if (data === undefined || isOver) return null;
  return (
    <span className="me">
      <span className="me-name" title={visibleText(data.actor)}>
        <Plain text={data.actor} />
      </span>
      <span className="muted">{data.role}</span>
      <button type="button" className="quiet-button" onClick={() => void leave()}>
        Sign out
      </button>
    </span>
  );
}

async function leave(): Promise<void> {
  try {
    await signOut();
  } catch (error) {
    // Whoever goes away from a machine has to know that a session goes on there.
    reportLeftBehind({ title: 'Sign out', error: error instanceof Error ? error : new Error() });
    await refreshAll();
    return;
  }
  forgetPage();
  window.location.assign('/console');
}

/** Going back would bring this page back as it was: browsers keep those that are left, memory and all. */
function forgetPage(): void {
  window.addEventListener('pagehide', () => document.body.replaceChildren());
  window.addEventListener('pageshow', () => window.location.reload());
}
