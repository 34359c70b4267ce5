import { useLive } from '../api/queries.ts';
import { Plain } from '../parts/plain.tsx';
import { visibleText } from '../parts/visible.ts';

/** Who is signed in, as which role, and the way out. */
export function Me() {
  const { data } = useLive('GET /admin/me', { everyMs: false });
  if (data === undefined) return null;
  // Also a token that was typed is gone with the page, which then says who is still signed in.
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
