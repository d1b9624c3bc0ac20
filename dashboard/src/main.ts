/// Starts the application.
import './style/tokens.css';
import './style/base.css';
import { mount } from 'svelte';
import App from './app/App.svelte';
import { applyTheme } from './app/theme.svelte';

applyTheme();
const target = document.getElementById('app');
if (target) mount(App, { target });
