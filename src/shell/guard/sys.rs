//! The calls that no safe crate offers: installing a filter with a listener, the listener's five requests, reading
//! another process's memory, copying this one, namespaces, and giving memory back that is not needed now. The only file
//! of the program that may be unsafe.

#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::call::{CallReply, Notification};

/// Installs a filter on this process permanently; with `waits`, the other end of its calls. It must have no-new-privileges
/// set.
///
/// # Errors
/// When the kernel has none, or another listener is there already.
pub fn install(filter: &[libc::sock_filter], waits: bool) -> io::Result<Option<OwnedFd>> {
    let length = u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog { len: length, filter: filter.as_ptr().cast_mut() };
    let (set, listens) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
    let ways = if waits { vec![listens | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, listens] } else { vec![0] };
    for flags in ways {
        // SAFETY: the program and its instructions outlive the call, which only reads them.
        let made = unsafe { libc::syscall(libc::SYS_seccomp, set, flags, &raw const program) };
        match i32::try_from(made) {
            Ok(0) if !waits => return Ok(None),
            // SAFETY: the kernel has just made this descriptor for us alone.
            Ok(descriptor) if descriptor >= 0 => return Ok(Some(unsafe { OwnedFd::from_raw_fd(descriptor) })),
            _ if io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) => {}
            _ => return Err(io::Error::last_os_error()),
        }
    }
    Err(io::ErrorKind::Unsupported.into())
}

/// Lets whoever waits for an answer run at once on this processor, where the kernel can.
pub fn wake_at_once(listener: BorrowedFd<'_>) {
    // SAFETY: the request takes a plain number, `SYNC_WAKE_UP`. An older kernel refuses it, which changes nothing.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, 1_u64) };
}

/// Moves this process, which must have one thread, into a user and a mount namespace of its own.
///
/// # Errors
/// When the kernel permits none.
pub fn own_namespaces() -> io::Result<()> {
    // SAFETY: the table of descriptors stays the one that it was.
    Ok(unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS) }?)
}

/// Makes a copy of this process, which must have one thread. Returns the copy's number; in the copy, none.
///
/// # Errors
/// When the kernel makes none.
pub fn copy_process() -> io::Result<Option<i32>> {
    // SAFETY: without other threads no lock is held in the copy that nobody there could free.
    match unsafe { libc::fork() } {
        0 => Ok(None),
        copy @ 1.. => Ok(Some(copy)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the next call that waits; none where its process is gone by now.
///
/// # Errors
/// When the listener is over.
pub fn receive(listener: BorrowedFd<'_>) -> io::Result<Option<Notification>> {
    let mut raw = MaybeUninit::<libc::seccomp_notif>::zeroed();
    // SAFETY: the kernel writes one notification into memory of its size, which has to be zero before.
    if let Err(error) =
        checked(unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, raw.as_mut_ptr()) })
    {
        return if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) { Ok(None) } else { Err(error) };
    }
    // SAFETY: all of it is initialised: zero, or written by the kernel; every pattern of bits is one.
    let raw = unsafe { raw.assume_init() };
    let process = raw.pid.cast_signed();
    Ok(Some(Notification { id: raw.id, process, number: raw.data.nr.into(), arguments: raw.data.args }))
}

/// Returns whether a call still waits: then what was read of its process since it came is that process's.
pub fn still_waits(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the kernel reads one number, which outlives the call.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) == 0 }
}

/// Answers a call.
///
/// # Errors
/// When its process is gone by now, or the kernel gives no descriptors.
pub fn answer(listener: BorrowedFd<'_>, id: u64, answer: &CallReply) -> io::Result<()> {
    let (error, flags) = match answer {
        CallReply::GoOn => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
        CallReply::Done => (0, 0),
        CallReply::Fail(number) => (-number, 0),
        CallReply::Opened(file) => return answer_opened(listener, id, file.as_raw_fd().cast_unsigned()),
    };
    let mut response = libc::seccomp_notif_resp { id, val: 0, error, flags };
    // SAFETY: the kernel reads one response of this size, which outlives the call.
    checked(unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response) })
}

/// Answers a call with a descriptor, closed where its process runs another program, of a file that is open here.
fn answer_opened(listener: BorrowedFd<'_>, id: u64, srcfd: u32) -> io::Result<()> {
    let (flags, newfd_flags) = (libc::SECCOMP_ADDFD_FLAG_SEND as u32, libc::O_CLOEXEC.cast_unsigned());
    let added = libc::seccomp_notif_addfd { id, flags, srcfd, newfd: 0, newfd_flags };
    // SAFETY: the kernel reads one request of this size, which outlives the call.
    checked(unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw const added) })
}

fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Reads memory that the other process may read; how much was there.
///
/// # Errors
/// When nothing is there, or the process itself may not read it.
pub fn read_readable(process: i32, address: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let from = usize::try_from(address).map_err(|_| io::ErrorKind::InvalidInput)?;
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(from), iov_len: bytes.len() };
    // SAFETY: `local` is exactly `bytes`, borrowed alone for the call; the other process's memory is only read.
    let read = unsafe { libc::process_vm_readv(process, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

/// Gives memory back to the system that was freed and is kept for later; only the allocator of glibc keeps much.
pub fn trim_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes the allocator's own locks and moves nothing that is in use.
    let _ = unsafe { libc::malloc_trim(0) };
}

/// Unmaps the code and the constants of this program and its libraries: they stay in the kernel's cache of files, and
/// each page is mapped again when it is touched next.
pub fn release_code() {
    // SAFETY: the callback fits its type, and ends before its argument does.
    unsafe { libc::dl_iterate_phdr(Some(release_object), std::ptr::null_mut()) };
}

unsafe extern "C" fn release_object(info: *mut libc::dl_phdr_info, _: usize, _: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the loader lends a valid object and its table of segments for the call.
    let (base, segments) = unsafe {
        let headers = std::slice::from_raw_parts((*info).dlpi_phdr, usize::from((*info).dlpi_phnum));
        ((*info).dlpi_addr, headers)
    };
    for segment in segments.iter().filter(|s| s.p_type == libc::PT_LOAD && s.p_flags & libc::PF_W == 0) {
        // Whole pages of this segment alone: its alignment is a multiple of their size.
        let (begin, align) = (base + segment.p_vaddr, segment.p_align.max(1));
        let (from, to) = (begin.next_multiple_of(align), (begin + segment.p_memsz) / align * align);
        // SAFETY: nothing is ever written to a segment that may not be, so what comes back from its file is the same.
        unsafe { libc::madvise(from as *mut _, to.saturating_sub(from) as usize, libc::MADV_DONTNEED) };
    }
    0
}
