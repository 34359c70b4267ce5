import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { AnswerError, call, setTypedToken } from '../api/call.ts';
import { refreshAll, useLive } from '../api/queries.ts';
import { Loading, reasonOf, useErrorOf } from '../parts/answered.tsx';

/** How soon an idle page notices that its session has ended. */
const ME_MS = 30_000;

/** What the gateway accepts in a token: with anything else the browser rejects the header and sends nothing. */
const TYPEABLE = /^[\x21-\x7e]+$/;

/** The pages for somebody who is signed in, the sign-in form for everybody else. */
export function AfterSignIn({ children }: { readonly children: ReactNode }) {
  const me = useLive('GET /admin/me', { everyMs: ME_MS });
  const error = useErrorOf(me);
  if (me.isPending && error === null) return <Loading what="the console" />;
  if (error instanceof AnswerError && error.status === 401) return <SignIn />;
  return children;
}

function SignIn() {
  const [failure, setFailure] = useState<string | undefined>();
  useEffect(() => () => document.getElementById('main')?.focus({ preventScroll: true }), []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget).get('token');
    if (typeof token !== 'string') return;
    setFailure(undefined);
    if (!TYPEABLE.test(token.trim())) {
      setFailure('The token is wrong: it holds a character that no token has.');
      return;
    }
    setTypedToken(token.trim());
    // Asked directly and not by refreshing the page's own query, which would leave the page empty meanwhile.
    call('GET /admin/me').then(refreshAll, (error: Error) => {
      setTypedToken(undefined);
      const isRefused = error instanceof AnswerError && error.status === 401;
      setFailure(isRefused ? 'The token is wrong.' : reasonOf(error));
    });
  };
  return (
    <section className="sign-in" aria-labelledby="sign-in">
      <h1 id="sign-in">Sign in</h1>
      <p>
        <a
          href={`/console/sign-in?to=${encodeURIComponent(window.location.pathname + window.location.search)}`}
        >
          Sign in with your account or a link
        </a>
      </p>
      <form onSubmit={submit}>
        <div className="field">
          <label htmlFor="token">Admin token</label>
          <input id="token" name="token" type="password" autoComplete="off" required />
          <p className="muted">Kept only in this tab, and gone when it is closed or reloaded.</p>
        </div>
        {failure !== undefined && (
          <p className="notice bad" role="alert">
            {failure}
          </p>
        )}
        <button type="submit" className="main">
          Sign in
        </button>
      </form>
    </section>
  );
}
