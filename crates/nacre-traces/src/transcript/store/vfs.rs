//! A read-only SQLite VFS that serves a single file, an [`Image`].
//!
//! SQLite's default VFS opens a database and the files next to it by name, follows links, blocks on
//! pipes, and creates `-shm` files even for reading. This VFS only provides bytes, so SQLite cannot
//! open, create or lock files. It requires `unsafe`, because an SQLite VFS is a table of C
//! functions.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_io_methods, sqlite3_vfs};
use rusqlite::{Connection, OpenFlags};

use super::image::Image;

const NAME: &CStr = c"nacre-trace";
/// All image names are shorter than this.
const MAX_NAME: c_int = 64;

static WAITING: Mutex<BTreeMap<String, Arc<Image>>> = Mutex::new(BTreeMap::new());

/// The structure that SQLite allocates for an open file. SQLite itself accesses only the first
/// field.
#[repr(C)]
struct OpenImage {
    base: sqlite3_file,
    image: *const Image,
}

/// Opens an image as a read-only database without virtual tables.
pub(crate) fn connect(image: &Arc<Image>) -> rusqlite::Result<Connection> {
    static NEXT: AtomicU64 = AtomicU64::new(0);

    register()?;
    let name = format!("image-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_PRIVATE_CACHE;
    waiting(|images| images.insert(name.clone(), Arc::clone(image)));
    let opened = Connection::open_with_flags_and_vfs(&name, flags, NAME);
    waiting(|images| images.remove(&name));
    let connection = opened?;
    #[expect(unsafe_code, reason = "rusqlite cannot remove modules")]
    // SAFETY: the handle belongs to an open connection, and a null list drops all modules.
    unsafe {
        ffi::sqlite3_drop_modules(connection.handle(), ptr::null_mut());
    }
    Ok(connection)
}

fn waiting<T>(work: impl FnOnce(&mut BTreeMap<String, Arc<Image>>) -> T) -> T {
    work(&mut WAITING.lock().unwrap_or_else(PoisonError::into_inner))
}

fn register() -> rusqlite::Result<()> {
    static REGISTERED: OnceLock<c_int> = OnceLock::new();

    let code = *REGISTERED.get_or_init(|| {
        // SQLite keeps the VFS in a list until the process exits.
        let vfs = Box::leak(Box::new(file_system()));
        #[expect(unsafe_code, reason = "SQLite's file system interface is a C structure")]
        // SAFETY: the VFS is never freed, its name is static, and there are no other references to
        // it.
        unsafe {
            ffi::sqlite3_vfs_register(vfs, 0)
        }
    });
    match code {
        ffi::SQLITE_OK => Ok(()),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}

fn file_system() -> sqlite3_vfs {
    sqlite3_vfs {
        iVersion: 1,
        szOsFile: c_int::try_from(mem::size_of::<OpenImage>()).unwrap_or(c_int::MAX),
        mxPathname: MAX_NAME,
        pNext: ptr::null_mut(),
        zName: NAME.as_ptr(),
        pAppData: ptr::null_mut(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_pathname),
        // Used only by extensions, which are disabled.
        xDlOpen: None,
        xDlError: None,
        xDlSym: None,
        xDlClose: None,
        xRandomness: Some(randomness),
        xSleep: Some(sleep),
        xCurrentTime: Some(current_time),
        xGetLastError: Some(last_error),
        xCurrentTimeInt64: None,
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    }
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(ignore),
    xFileSize: Some(file_size),
    xLock: Some(ignore),
    xUnlock: Some(ignore),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let file = file.cast::<OpenImage>();
    // SAFETY: SQLite allocates `szOsFile` bytes for `file`, and `name` is null or NUL-terminated.
    let name = unsafe {
        // If opening fails, null methods prevent SQLite from calling `close`.
        (*file).base.pMethods = ptr::null();
        if name.is_null() { None } else { CStr::from_ptr(name).to_str().ok() }
    };
    let is_main = flags & ffi::SQLITE_OPEN_MAIN_DB != 0;
    let image = name.filter(|_| is_main).and_then(|name| waiting(|images| images.remove(name)));
    let Some(image) = image else { return ffi::SQLITE_CANTOPEN };
    // SAFETY: as above; `out_flags` is null or points to an integer.
    unsafe {
        (*file).image = Arc::into_raw(image);
        (*file).base.pMethods = &raw const METHODS;
        if !out_flags.is_null() {
            *out_flags = ffi::SQLITE_OPEN_READONLY | ffi::SQLITE_OPEN_MAIN_DB;
        }
    }
    ffi::SQLITE_OK
}

#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let file = file.cast::<OpenImage>();
    // SAFETY: `open` stored the image here, and SQLite closes a file only once.
    drop(unsafe { Arc::from_raw((*file).image) });
    ffi::SQLITE_OK
}

#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    buffer: *mut c_void,
    n_bytes: c_int,
    offset: i64,
) -> c_int {
    let (Ok(n_bytes), Ok(offset)) = (usize::try_from(n_bytes), u64::try_from(offset)) else {
        return ffi::SQLITE_IOERR_READ;
    };
    // SAFETY: `open` stored the image here, and `close` has not been called yet. SQLite guarantees
    // the length of the buffer.
    let (image, buffer) = unsafe {
        let buffer = buffer.cast::<u8>();
        // Memory that SQLite allocated may be uninitialized.
        ptr::write_bytes(buffer, 0, n_bytes);
        (&*(*file.cast::<OpenImage>()).image, std::slice::from_raw_parts_mut(buffer, n_bytes))
    };
    match image.read_at(buffer, offset) {
        Ok(n_read) if n_read == n_bytes => ffi::SQLITE_OK,
        // SQLite requires the remaining bytes to be zero.
        Ok(n_read) => {
            buffer[n_read..].fill(0);
            ffi::SQLITE_IOERR_SHORT_READ
        }
        Err(_) => ffi::SQLITE_IOERR_READ,
    }
}

#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: `open` stored the image here, and `close` has not been called yet. `size` points to
    // an integer.
    unsafe {
        let image = &*(*file.cast::<OpenImage>()).image;
        *size = i64::try_from(image.size).unwrap_or(i64::MAX);
    }
    ffi::SQLITE_OK
}

#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn full_pathname(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    n_out: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: `name` is NUL-terminated.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
    if usize::try_from(n_out).unwrap_or(0) < bytes.len() {
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: `out` is large enough, and SQLite's input and output buffers never overlap.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr().cast(), out, bytes.len()) };
    ffi::SQLITE_OK
}

/// Always reports that the file does not exist, because there are no files next to an image.
#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn access(
    _: *mut sqlite3_vfs,
    _: *const c_char,
    _: c_int,
    is_there: *mut c_int,
) -> c_int {
    // SAFETY: `is_there` points to an integer.
    unsafe { *is_there = 0 };
    ffi::SQLITE_OK
}

#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn check_reserved_lock(_: *mut sqlite3_file, is_held: *mut c_int) -> c_int {
    // SAFETY: `is_held` points to an integer.
    unsafe { *is_held = 0 };
    ffi::SQLITE_OK
}

#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn randomness(_: *mut sqlite3_vfs, n_bytes: c_int, out: *mut c_char) -> c_int {
    // SAFETY: SQLite guarantees the length of the buffer. Zeros are sufficient, because SQLite gets
    // random numbers from the default VFS.
    unsafe { ptr::write_bytes(out, 0, usize::try_from(n_bytes).unwrap_or(0)) };
    n_bytes
}

#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn current_time(_: *mut sqlite3_vfs, day: *mut f64) -> c_int {
    // SAFETY: `day` points to a number. The value does not matter, because no query uses the
    // current time.
    unsafe { *day = 0.0 };
    ffi::SQLITE_OK
}

extern "C" fn delete(_: *mut sqlite3_vfs, _: *const c_char, _: c_int) -> c_int {
    ffi::SQLITE_READONLY
}

extern "C" fn write(_: *mut sqlite3_file, _: *const c_void, _: c_int, _: i64) -> c_int {
    ffi::SQLITE_READONLY
}

extern "C" fn truncate(_: *mut sqlite3_file, _: i64) -> c_int {
    ffi::SQLITE_READONLY
}

extern "C" fn ignore(_: *mut sqlite3_file, _: c_int) -> c_int {
    ffi::SQLITE_OK
}

extern "C" fn file_control(_: *mut sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

extern "C" fn sector_size(_: *mut sqlite3_file) -> c_int {
    4096
}

/// Marks the file as immutable, so that SQLite neither locks it nor looks for a journal or log.
extern "C" fn characteristics(_: *mut sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_IMMUTABLE
}

extern "C" fn sleep(_: *mut sqlite3_vfs, _: c_int) -> c_int {
    0
}

extern "C" fn last_error(_: *mut sqlite3_vfs, _: c_int, _: *mut c_char) -> c_int {
    0
}
