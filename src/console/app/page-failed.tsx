import { Link } from '@tanstack/react-router';
import { Heading } from '../parts/heading.tsx';
import { Plain } from '../parts/plain.tsx';

/** Shown in place of a page that failed; the rest of the console still works. */
export function PageFailed({ error }: { readonly error: unknown }) {
  return (
    <div className="notice bad" role="alert">
      <p>
        <strong>This page went wrong.</strong>{' '}
        <Plain text={error instanceof Error ? error.message : String(error)} />
      </p>
      <button type="button" onClick={() => window.location.reload()}>
        Reload the page
      </button>
    </div>
  );
}

export function PageMissing() {
  return (
    <>
      <Heading title="There is no such page" />
      <Link to="/">Go to Now</Link>
    </>
  );
}
