/// Who looks at what: the login, the projects, and the one that is shown.
import { api, asApiError, setLoginHandler, setProject } from '../lib/api';
import { onOtherLogin } from '../lib/login';
import { startLive, stopLive } from '../lib/live.svelte';
import type { ProjectEntry } from '../lib/wire';
import { go, link, route } from './router.svelte';

const KEY = 'nacre.project';

type State = 'starting' | 'ready' | 'login' | 'failed';

export const session = $state<{
  state: State;
  error: unknown;
  projects: ProjectEntry[];
  project: string | null;
}>({ state: 'starting', error: undefined, projects: [], project: null });

setLoginHandler(() => {
  session.state = 'login';
  stopLive();
});

// A link that was opened in another tab lets this one in, too.
onOtherLogin(() => {
  if (session.state === 'login') void start();
});

/** `nacre dashboard` opens `/#code=…`; the code is used once and must not stay in the history. */
async function logIn(): Promise<void> {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  if (!code) return;
  go('#/overview', true);
  await api.login(decodeURIComponent(code));
}

export async function start(): Promise<void> {
  session.state = 'starting';
  try {
    await logIn();
    await loadProjects();
    session.state = 'ready';
    startLive();
  } catch (error) {
    const isLogin = asApiError(error).isLogin;
    session.error = error;
    session.state = isLogin ? 'login' : 'failed';
  }
}

export async function loadProjects(): Promise<void> {
  session.projects = (await api.projects()).projects;
  const has = (name: string | null | undefined) => session.projects.some((one) => one.name === name);
  const wanted = [route.query.project, session.project, remembered()].find(has);
  const usual = session.projects.find((one) => one.state === 'ready') ?? session.projects[0];
  setCurrent(wanted ?? usual?.name ?? null);
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function setCurrent(name: string | null): void {
  session.project = name;
  setProject(name);
  try {
    if (name !== null) localStorage.setItem(KEY, name);
  } catch {
    // Private windows may refuse storage.
  }
}

/** Shows another project: the same tab, without what was open in it. */
export function chooseProject(name: string): void {
  setCurrent(name);
  go(link(route.tab));
}
