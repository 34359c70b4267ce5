import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react';
import { LeftBehind } from '../parts/left-behind.tsx';
import { Help } from './help.tsx';
import { Me } from './me.tsx';
import { useShortcuts } from './shortcuts.ts';
import { AfterSignIn } from './sign-in.tsx';

const PAGES = [
  { to: '/', name: 'Now' },
  { to: '/bets', name: 'Bets' },
  { to: '/deliveries', name: 'Deliveries' },
  { to: '/books', name: 'Books' },
  { to: '/audit', name: 'Audit' },
  { to: '/settings', name: 'Settings' },
] as const;

/** Reconciliations belong to the books, whose page links to them. */
const RECONCILIATIONS = /\/reconciliations(\/|$)/;

/** The header and navigation around every page. */
export function Shell() {
  const [isHelp, setHelp] = useState(false);
  const showHelp = useCallback(() => setHelp(true), []);
  useShortcuts(showHelp);
  const main = useFocusOnNewPage();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="top">
        <Link to="/" className="brand" aria-label="Wagergate, Now">
          <Mark />
          <span className="brand-name">Wagergate</span>
        </Link>
        <nav aria-label="Pages" className="pages">
          {PAGES.map(({ to, name }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              className={to === '/books' && RECONCILIATIONS.test(path) ? 'active' : undefined}
            >
              {name}
            </Link>
          ))}
        </nav>
        <Find />
        <div className="top-end">
          <Me />
          <button
            type="button"
            className="quiet-button"
            onClick={showHelp}
            aria-label="Keys and colours"
          >
            ?
          </button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <LeftBehind />
        <AfterSignIn>
          <Outlet />
        </AfterSignIn>
      </main>
      <Help isOpen={isHelp} onClose={() => setHelp(false)} />
    </>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="7" className="mark" />
      <path d="M7 10l4.5 12L16 12l4.5 10L25 10" className="mark-line" />
    </svg>
  );
}

/** A new page takes the focus, so that a screen reader begins there; the first page does not. */
function useFocusOnNewPage() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    main.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [path]);
  return main;
}

function Find() {
  const navigate = useNavigate();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const id = new FormData(event.currentTarget).get('find');
    if (typeof id !== 'string' || id.trim() === '') return;
    event.currentTarget.reset();
    void navigate({ to: '/bets/$id', params: { id: id.trim() } });
  };
  return (
    <search className="find">
      <form onSubmit={submit}>
        <label htmlFor="find" className="sr-only">
          Find a bet by its id
        </label>
        <input
          id="find"
          name="find"
          type="search"
          placeholder="Bet id  ( / )"
          autoComplete="off"
          spellCheck={false}
        />
      </form>
    </search>
  );
}
