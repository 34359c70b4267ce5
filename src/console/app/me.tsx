import { useLive } from '../api/queries.ts';
import { Plain } from '../parts/plain.tsx';
import { visibleText } from '../parts/visible.ts';

/** Who is signed in, with which role, and the button to sign out. */
export function Me() {
  const { data } = useLive('GET /admin/me', { everyMs: false });
  if (data === undefined) return null;
  // A reload also drops a token that was typed; the page then shows who is still signed in.
  const leave = () => window.location.assign('/console');
  const signOut = () => void fetch('/console/sign-out', { method: 'POST' }).then(leave, leave);
  return (
    <span className="me">
      <span className="me-name" title={visibleText(data.actor)}>
        <Plain text={data.actor} />
      </span>
      <span className="muted">{data.role}</span>
      <button type="button" className="quiet-button" onClick={signOut}>
        Sign out
      </button>
    </span>
  );
}
